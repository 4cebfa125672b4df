#ifndef HONE_HLO_EVALUATOR_ELEMENTWISE_ARITHMETIC_H_
#define HONE_HLO_EVALUATOR_ELEMENTWISE_ARITHMETIC_H_

#include <bit>
#include <limits>

#include "hlo/evaluator/types.h"

namespace hone::hlo::evaluator {

// The operations that reductions share with elementwise instructions. Integers
// wrap; on pred, add is or and multiply is and.

struct Add {
  static bool Apply(bool a, bool b) { return a || b; }
  template <Integer T>
  static T Apply(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) +
                          static_cast<Wrapping<T>>(b));
  }
  template <typename T>
  requires Floating<T> || Complex<T>
  static T Apply(T a, T b) { return a + b; }
  template <typename T>
  static constexpr T Identity() {
    return T{};
  }
};

struct Multiply {
  static bool Apply(bool a, bool b) { return a && b; }
  template <Integer T>
  static T Apply(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) *
                          static_cast<Wrapping<T>>(b));
  }
  template <Floating T>
  static T Apply(T a, T b) {
    return a * b;
  }
  // The textbook formula, as XLA has it: no recovery of infinities.
  template <Complex T>
  static T Apply(T a, T b) {
    return T(a.real() * b.real() - a.imag() * b.imag(),
             a.real() * b.imag() + a.imag() * b.real());
  }
  template <typename T>
  static constexpr T Identity() {
    return T{1};
  }
};

template <Floating T>
using BitsOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

// NaN if either is; -0 < +0, so that the order of operands does not matter.
struct Maximum {
  template <std::integral T>
  static T Apply(T a, T b) {
    return a > b ? a : b;
  }
  template <Floating T>
  static T Apply(T a, T b) {
    const T both_zeros = std::bit_cast<T>(std::bit_cast<BitsOf<T>>(a) &
                                          std::bit_cast<BitsOf<T>>(b));
    const T larger = (a > b || a != a) ? a : b;
    return a == b ? both_zeros : larger;
  }
  template <typename T>
  static constexpr T Identity() {
    if constexpr (Floating<T>) return -std::numeric_limits<T>::infinity();
    return std::numeric_limits<T>::lowest();
  }
};

struct Minimum {
  template <std::integral T>
  static T Apply(T a, T b) {
    return a < b ? a : b;
  }
  template <Floating T>
  static T Apply(T a, T b) {
    const T both_zeros = std::bit_cast<T>(std::bit_cast<BitsOf<T>>(a) |
                                          std::bit_cast<BitsOf<T>>(b));
    const T smaller = (a < b || a != a) ? a : b;
    return a == b ? both_zeros : smaller;
  }
  template <typename T>
  static constexpr T Identity() {
    if constexpr (Floating<T>) return std::numeric_limits<T>::infinity();
    return std::numeric_limits<T>::max();
  }
};

struct And {
  template <std::integral T>
  static T Apply(T a, T b) {
    return static_cast<T>(a & b);
  }
  template <std::integral T>
  static constexpr T Identity() {
    if constexpr (std::same_as<T, bool>) return true;
    return static_cast<T>(-1);
  }
};

struct Or {
  template <std::integral T>
  static T Apply(T a, T b) {
    return static_cast<T>(a | b);
  }
  template <std::integral T>
  static constexpr T Identity() {
    return T{0};
  }
};

}  // namespace hone::hlo::evaluator

#endif  // HONE_HLO_EVALUATOR_ELEMENTWISE_ARITHMETIC_H_
