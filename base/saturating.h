#ifndef HONE_BASE_SATURATING_H_
#define HONE_BASE_SATURATING_H_

#include <cstdint>
#include <limits>

namespace hone {

// Sums and products of non-negative numbers that stay at the largest one
// instead of overflowing: for sizes and times of inputs that nobody vouches
// for.
constexpr int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum)
             ? std::numeric_limits<int64_t>::max()
             : sum;
}

constexpr int64_t SaturatingMultiply(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product)
             ? std::numeric_limits<int64_t>::max()
             : product;
}

}  // namespace hone

#endif  // HONE_BASE_SATURATING_H_
