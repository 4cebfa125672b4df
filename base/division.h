#ifndef HONE_BASE_DIVISION_H_
#define HONE_BASE_DIVISION_H_

#include <cstdint>

namespace hone {

// The quotient rounded down, where C++ rounds towards zero. `b` is not 0.
constexpr int64_t FloorDivide(int64_t a, int64_t b) {
  return a / b - static_cast<int64_t>(a % b != 0 && (a < 0) != (b < 0));
}

// The quotient rounded up.
constexpr int64_t CeilDivide(int64_t a, int64_t b) {
  return -FloorDivide(-a, b);
}

}  // namespace hone

#endif  // HONE_BASE_DIVISION_H_
