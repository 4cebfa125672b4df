#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>

#include "hlo/evaluator/elementwise/elementwise.h"
#include "hlo/evaluator/types.h"
#include "hlo/ir/float_formats.h"

namespace hone::hlo::evaluator {
namespace {

template <typename To, typename From>
To ConvertValue(From x) {
  if constexpr (Complex<From> && Complex<To>) {
    using R = typename To::value_type;
    return To(static_cast<R>(x.real()), static_cast<R>(x.imag()));
  } else if constexpr (Complex<From>) {
    return ConvertValue<To>(x.real());
  } else if constexpr (Complex<To>) {
    return To(static_cast<typename To::value_type>(x));
  } else if constexpr (std::same_as<To, bool>) {
    return x != From{0};
  } else if constexpr (Floating<From> && Integer<To>) {
    // Powers of two, so exact in every float type.
    constexpr To kHalf = std::numeric_limits<To>::max() / 2 + 1;
    constexpr From kAboveMax = static_cast<From>(kHalf) * 2;
    constexpr From kMin = static_cast<From>(std::numeric_limits<To>::min());
    if (x >= kAboveMax) return std::numeric_limits<To>::max();
    if (x <= kMin) return std::numeric_limits<To>::min();
    return x == x ? static_cast<To>(x) : To{0};
  } else {
    return static_cast<To>(x);
  }
}

template <typename From, typename To>
void ConvertLoop(const void* const* operands, void* result, int64_t n) {
  const From* x = static_cast<const From*>(operands[0]);
  To* out = static_cast<To*>(result);
  HONE_VECTORIZE
  for (int64_t i = 0; i < n; ++i) out[i] = ConvertValue<To>(x[i]);
}

template <float (*kConvert)(uint16_t)>
void WidenHalf(const void* const* operands, void* result, int64_t n) {
  const auto* x = static_cast<const uint16_t*>(operands[0]);
  float* out = static_cast<float*>(result);
  for (int64_t i = 0; i < n; ++i) out[i] = kConvert(x[i]);
}

// The float that rounds to any narrower format as `x` does.
float ForNarrowing(float x) { return x; }
float ForNarrowing(double x) { return RoundToOdd(x); }

template <Floating From, uint16_t (*kConvert)(float)>
void NarrowHalf(const void* const* operands, void* result, int64_t n) {
  const auto* x = static_cast<const From*>(operands[0]);
  auto* out = static_cast<uint16_t*>(result);
  for (int64_t i = 0; i < n; ++i) out[i] = kConvert(ForNarrowing(x[i]));
}

template <ElementType kType>
void WidenMini(const void* const* operands, void* result, int64_t n) {
  static const auto* const table = [] {
    auto* values = new std::array<float, 256>;
    for (size_t b = 0; b < 256; ++b) {
      (*values)[b] = MiniFloatToFloat(kType, static_cast<uint8_t>(b));
    }
    return values;
  }();
  const auto* x = static_cast<const uint8_t*>(operands[0]);
  float* out = static_cast<float*>(result);
  for (int64_t i = 0; i < n; ++i) out[i] = (*table)[x[i]];
}

template <Floating From, ElementType kType>
void NarrowMini(const void* const* operands, void* result, int64_t n) {
  const auto* x = static_cast<const From*>(operands[0]);
  auto* out = static_cast<uint8_t*>(result);
  for (int64_t i = 0; i < n; ++i) {
    out[i] = FloatToMiniFloat(kType, ForNarrowing(x[i]));
  }
}

// Sub-byte integers are stored sign- or zero-extended.
template <typename T, int kBits>
void WrapSubByte(const void* const* operands, void* result, int64_t n) {
  const T* x = static_cast<const T*>(operands[0]);
  T* out = static_cast<T*>(result);
  HONE_VECTORIZE
  for (int64_t i = 0; i < n; ++i) {
    const T shifted =
        static_cast<T>(static_cast<unsigned>(x[i]) << (8 - kBits));
    out[i] = static_cast<T>(shifted >> (8 - kBits));
  }
}

// Floats saturate at the narrow range at once: bits beyond it must not wrap.
template <Floating From, Integer To, int kBits>
void SaturateSubByte(const void* const* operands, void* result, int64_t n) {
  constexpr To kMax = std::numeric_limits<To>::max() >> (8 - kBits);
  constexpr To kMin = std::numeric_limits<To>::min() >> (8 - kBits);
  const From* x = static_cast<const From*>(operands[0]);
  To* out = static_cast<To*>(result);
  HONE_VECTORIZE
  for (int64_t i = 0; i < n; ++i) {
    out[i] = std::clamp(ConvertValue<To>(x[i]), kMin, kMax);
  }
}

template <Floating From>
ElementwiseFn SaturateFn(ElementType to) {
  switch (to) {
    case ElementType::kS4:
      return &SaturateSubByte<From, int8_t, 4>;
    case ElementType::kS2:
      return &SaturateSubByte<From, int8_t, 2>;
    case ElementType::kS1:
      return &SaturateSubByte<From, int8_t, 1>;
    case ElementType::kU4:
      return &SaturateSubByte<From, uint8_t, 4>;
    case ElementType::kU2:
      return &SaturateSubByte<From, uint8_t, 2>;
    case ElementType::kU1:
      return &SaturateSubByte<From, uint8_t, 1>;
    default:
      return nullptr;
  }
}

ElementwiseFn WidenFn(ElementType from) {
  switch (from) {
    case ElementType::kBf16:
      return &WidenHalf<Bf16ToFloat>;
    case ElementType::kF16:
      return &WidenHalf<F16ToFloat>;
#define HONE_MINI_FLOAT(type) \
  case ElementType::type:     \
    return &WidenMini<ElementType::type>;
      HONE_MINI_FLOAT(kF8e5m2)
      HONE_MINI_FLOAT(kF8e4m3fn)
      HONE_MINI_FLOAT(kF8e4m3b11fnuz)
      HONE_MINI_FLOAT(kF8e5m2fnuz)
      HONE_MINI_FLOAT(kF8e4m3fnuz)
      HONE_MINI_FLOAT(kF8e4m3)
      HONE_MINI_FLOAT(kF8e3m4)
      HONE_MINI_FLOAT(kF4e2m1fn)
      HONE_MINI_FLOAT(kF8e8m0fnu)
      HONE_MINI_FLOAT(kF6e3m2fn)
      HONE_MINI_FLOAT(kF6e2m3fn)
#undef HONE_MINI_FLOAT
    default:
      return CopyFn(1);
  }
}

// Rounds to a narrow float format.
template <Floating From>
ElementwiseFn RoundFn(ElementType to) {
  switch (to) {
    case ElementType::kBf16:
      return &NarrowHalf<From, FloatToBf16>;
    case ElementType::kF16:
      return &NarrowHalf<From, FloatToF16>;
#define HONE_MINI_FLOAT(type) \
  case ElementType::type:     \
    return &NarrowMini<From, ElementType::type>;
      HONE_MINI_FLOAT(kF8e5m2)
      HONE_MINI_FLOAT(kF8e4m3fn)
      HONE_MINI_FLOAT(kF8e4m3b11fnuz)
      HONE_MINI_FLOAT(kF8e5m2fnuz)
      HONE_MINI_FLOAT(kF8e4m3fnuz)
      HONE_MINI_FLOAT(kF8e4m3)
      HONE_MINI_FLOAT(kF8e3m4)
      HONE_MINI_FLOAT(kF4e2m1fn)
      HONE_MINI_FLOAT(kF8e8m0fnu)
      HONE_MINI_FLOAT(kF6e3m2fn)
      HONE_MINI_FLOAT(kF6e2m3fn)
#undef HONE_MINI_FLOAT
    default:
      return nullptr;
  }
}

// Keeps the low bits.
ElementwiseFn WrapFn(ElementType to) {
  switch (to) {
    case ElementType::kS4:
      return &WrapSubByte<int8_t, 4>;
    case ElementType::kS2:
      return &WrapSubByte<int8_t, 2>;
    case ElementType::kS1:
      return &WrapSubByte<int8_t, 1>;
    case ElementType::kU4:
      return &WrapSubByte<uint8_t, 4>;
    case ElementType::kU2:
      return &WrapSubByte<uint8_t, 2>;
    case ElementType::kU1:
      return &WrapSubByte<uint8_t, 1>;
    default:
      return nullptr;
  }
}

bool IsNarrowFloat(ElementType type) {
  return IsFloat(type) && BitWidth(type) < 32;
}

// Returns true if going through the compute type of `to` would round or
// saturate twice. XLA:CPU does round f64 twice on its way to bf16.
bool ConvertsAtOnce(ElementType from, ElementType to) {
  if (from == ElementType::kF64 && IsNarrowFloat(to)) {
    return to != ElementType::kBf16;
  }
  return IsFloat(from) && IsIntegral(to) && BitWidth(to) < 8;
}

template <Floating From>
ElementwiseFn NarrowFn(ElementType to) {
  return IsFloat(to) ? RoundFn<From>(to) : SaturateFn<From>(to);
}

}  // namespace

TypePath ConversionPath(ElementType from, ElementType to) {
  TypePath path;
  if (from == to) return path;
  if (ComputeType(from) != from) path.push_back(ComputeType(from));
  const ElementType computed = ComputeType(to);
  if (ComputeType(from) != computed && computed != to &&
      !ConvertsAtOnce(ComputeType(from), to)) {
    path.push_back(computed);
  }
  if (path.empty() || path.back() != to) path.push_back(to);
  return path;
}

ElementwiseFn ConvertFn(ElementType from, ElementType to) {
  if (from == to) return CopyFn(ByteWidth(from));
  if (ComputeType(from) == to) return WidenFn(from);
  if (from == ElementType::kF32 && ComputeType(to) != to) {
    return NarrowFn<float>(to);
  }
  if (from == ElementType::kF64 && ComputeType(to) != to) {
    return NarrowFn<double>(to);
  }
  if (from == ComputeType(to)) return WrapFn(to);
  return DispatchType(from, [to]<typename From>() {
    return DispatchType(to, []<typename To>() -> ElementwiseFn {
      return &ConvertLoop<From, To>;
    });
  });
}

}  // namespace hone::hlo::evaluator
