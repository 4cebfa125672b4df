#ifndef HONE_HLO_EVALUATOR_TYPES_H_
#define HONE_HLO_EVALUATOR_TYPES_H_

#include <complex>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "hlo/ir/element_type.h"

// Iterations of the following loop are independent although pointers may be
// equal (an operand's buffer is reused for the result).
#if defined(__clang__)
#define HONE_VECTORIZE _Pragma("clang loop vectorize(assume_safety)")
#else
#define HONE_VECTORIZE _Pragma("GCC ivdep")
#endif

namespace hone::hlo::evaluator {

template <typename T>
inline constexpr bool kIsComplex = false;
template <typename T>
inline constexpr bool kIsComplex<std::complex<T>> = true;

template <typename T>
concept Floating = std::is_floating_point_v<T>;
template <typename T>
concept Complex = kIsComplex<T>;
// Integers without pred.
template <typename T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;
template <typename T>
concept SignedInteger = Integer<T> && std::is_signed_v<T>;

// The unsigned type in which T's arithmetic wraps; at least as wide as int, so
// that promotion does not make it signed.
template <std::integral T>
using Wrapping = std::conditional_t<
    (sizeof(T) < sizeof(unsigned)), unsigned,
    std::make_unsigned_t<std::conditional_t<std::same_as<T, bool>, int, T>>>;

// The type that arithmetic on `type` is done in: f32 for the narrow floats,
// which are rounded after every operation; s8 and u8 for sub-byte integers
// (see SubByteFn for the opcodes that must know the width).
inline ElementType ComputeType(ElementType type) {
  switch (KindOf(type)) {
    case ElementKind::kFloat:
      return BitWidth(type) < 32 ? ElementType::kF32 : type;
    case ElementKind::kSigned:
      return BitWidth(type) < 8 ? ElementType::kS8 : type;
    case ElementKind::kUnsigned:
      return BitWidth(type) < 8 ? ElementType::kU8 : type;
    default:
      return type;
  }
}

// f.operator()<T>() with the C++ type of a compute type (pred is bool); a
// value-initialized result for other types.
template <typename F>
auto DispatchType(ElementType type, F&& f)
    -> decltype(f.template operator()<float>()) {
  switch (type) {
    case ElementType::kPred:
      return f.template operator()<bool>();
    case ElementType::kS8:
      return f.template operator()<int8_t>();
    case ElementType::kS16:
      return f.template operator()<int16_t>();
    case ElementType::kS32:
      return f.template operator()<int32_t>();
    case ElementType::kS64:
      return f.template operator()<int64_t>();
    case ElementType::kU8:
      return f.template operator()<uint8_t>();
    case ElementType::kU16:
      return f.template operator()<uint16_t>();
    case ElementType::kU32:
      return f.template operator()<uint32_t>();
    case ElementType::kU64:
      return f.template operator()<uint64_t>();
    case ElementType::kF32:
      return f.template operator()<float>();
    case ElementType::kF64:
      return f.template operator()<double>();
    case ElementType::kC64:
      return f.template operator()<std::complex<float>>();
    case ElementType::kC128:
      return f.template operator()<std::complex<double>>();
    default:
      return decltype(f.template operator()<float>())();
  }
}

struct Bytes16 {
  uint64_t low;
  uint64_t high;
};

// f.operator()<T>() with a type of `width` bytes, for moving data.
template <typename F>
auto DispatchWidth(int64_t width, F&& f) {
  switch (width) {
    case 1:
      return f.template operator()<uint8_t>();
    case 2:
      return f.template operator()<uint16_t>();
    case 4:
      return f.template operator()<uint32_t>();
    case 8:
      return f.template operator()<uint64_t>();
    default:
      return f.template operator()<Bytes16>();
  }
}

}  // namespace hone::hlo::evaluator

#endif  // HONE_HLO_EVALUATOR_TYPES_H_
