#include <algorithm>
#include <bit>
#include <complex>
#include <cstring>

#include "hlo/evaluator/elementwise/arithmetic.h"
#include "hlo/evaluator/elementwise/elementwise.h"
#include "hlo/evaluator/types.h"

namespace hone::hlo::evaluator {
namespace {

struct Eq {
  template <typename T>
  static bool Apply(T a, T b) {
    return a == b;
  }
};
struct Ne {
  template <typename T>
  static bool Apply(T a, T b) {
    return a != b;
  }
};
struct Ge {
  template <typename T>
  requires(!Complex<T>) static bool Apply(T a, T b) { return a >= b; }
};
struct Gt {
  template <typename T>
  requires(!Complex<T>) static bool Apply(T a, T b) { return a > b; }
};
struct Le {
  template <typename T>
  requires(!Complex<T>) static bool Apply(T a, T b) { return a <= b; }
};
struct Lt {
  template <typename T>
  requires(!Complex<T>) static bool Apply(T a, T b) { return a < b; }
};

// Maps floats to integers in their total order: -NaN < -inf < … < -0 < +0 < …
// < inf < NaN.
template <Floating T>
auto TotalOrderKey(T x) {
  using S = std::make_signed_t<BitsOf<T>>;
  const S bits = std::bit_cast<S>(x);
  return bits ^ ((bits >> (sizeof(T) * 8 - 1)) & std::numeric_limits<S>::max());
}

template <typename Op, bool kTotalOrder, typename T>
void CompareLoop(const void* const* operands, void* result, int64_t n) {
  const T* a = static_cast<const T*>(operands[0]);
  const T* b = static_cast<const T*>(operands[1]);
  bool* out = static_cast<bool*>(result);
  HONE_VECTORIZE
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (kTotalOrder) {
      out[i] = Op::Apply(TotalOrderKey(a[i]), TotalOrderKey(b[i]));
    } else {
      out[i] = Op::Apply(a[i], b[i]);
    }
  }
}

template <typename Op>
ElementwiseFn CompareFnFor(bool total_order, ElementType type) {
  return DispatchType(type, [total_order]<typename T>() -> ElementwiseFn {
    if constexpr (Floating<T>) {
      if (total_order) return &CompareLoop<Op, true, T>;
    }
    if constexpr (requires(T x) { Op::Apply(x, x); }) {
      return &CompareLoop<Op, false, T>;
    } else {
      return nullptr;
    }
  });
}

// Compares sign and magnitude, or unsigned bits.
template <typename Op, bool kHasSign>
void CompareBytes(const void* const* operands, void* result, int64_t n) {
  const auto* a = static_cast<const int8_t*>(operands[0]);
  const auto* b = static_cast<const int8_t*>(operands[1]);
  const auto key = [](int8_t bits) {
    const int x = bits;
    return kHasSign ? x ^ ((x >> 7) & 0x7f) : x & 0xff;
  };
  bool* out = static_cast<bool*>(result);
  HONE_VECTORIZE
  for (int64_t i = 0; i < n; ++i) out[i] = Op::Apply(key(a[i]), key(b[i]));
}

template <typename T>
void SelectLoop(const void* const* operands, void* result, int64_t n) {
  const bool* p = static_cast<const bool*>(operands[0]);
  const T* a = static_cast<const T*>(operands[1]);
  const T* b = static_cast<const T*>(operands[2]);
  T* out = static_cast<T*>(result);
  HONE_VECTORIZE
  for (int64_t i = 0; i < n; ++i) {
    // Both are read, so that this is a blend and not a branch.
    const T x = a[i];
    const T y = b[i];
    out[i] = p[i] ? x : y;
  }
}

// min(max(lower, x), upper) with the NaN rules of both.
template <typename T>
void ClampLoop(const void* const* operands, void* result, int64_t n) {
  const T* lower = static_cast<const T*>(operands[0]);
  const T* x = static_cast<const T*>(operands[1]);
  const T* upper = static_cast<const T*>(operands[2]);
  T* out = static_cast<T*>(result);
  HONE_VECTORIZE
  for (int64_t i = 0; i < n; ++i) {
    out[i] = Minimum::Apply(Maximum::Apply(lower[i], x[i]), upper[i]);
  }
}

template <typename T>
void CopyLoop(const void* const* operands, void* result, int64_t n) {
  std::memmove(result, operands[0], static_cast<size_t>(n) * sizeof(T));
}

}  // namespace

ElementwiseFn CompareFn(ComparisonDirection direction, bool total_order,
                        ElementType type) {
  switch (direction) {
    case ComparisonDirection::kEq:
      return CompareFnFor<Eq>(total_order, type);
    case ComparisonDirection::kNe:
      return CompareFnFor<Ne>(total_order, type);
    case ComparisonDirection::kGe:
      return CompareFnFor<Ge>(total_order, type);
    case ComparisonDirection::kGt:
      return CompareFnFor<Gt>(total_order, type);
    case ComparisonDirection::kLe:
      return CompareFnFor<Le>(total_order, type);
    case ComparisonDirection::kLt:
      return CompareFnFor<Lt>(total_order, type);
  }
  return nullptr;
}

ElementwiseFn CompareMiniFloatsFn(ComparisonDirection direction,
                                  ElementType type) {
  const bool has_sign = type != ElementType::kF8e8m0fnu;
  switch (direction) {
    case ComparisonDirection::kEq:
      return &CompareBytes<Eq, false>;
    case ComparisonDirection::kNe:
      return &CompareBytes<Ne, false>;
    case ComparisonDirection::kGe:
      return has_sign ? &CompareBytes<Ge, true> : &CompareBytes<Ge, false>;
    case ComparisonDirection::kGt:
      return has_sign ? &CompareBytes<Gt, true> : &CompareBytes<Gt, false>;
    case ComparisonDirection::kLe:
      return has_sign ? &CompareBytes<Le, true> : &CompareBytes<Le, false>;
    case ComparisonDirection::kLt:
      return has_sign ? &CompareBytes<Lt, true> : &CompareBytes<Lt, false>;
  }
  return nullptr;
}

ElementwiseFn ClampFn(ElementType type) {
  return DispatchType(type, []<typename T>() -> ElementwiseFn {
    if constexpr (Complex<T>) {
      return nullptr;
    } else {
      return &ClampLoop<T>;
    }
  });
}

ElementwiseFn SelectFn(int64_t width) {
  return DispatchWidth(
      width, []<typename T>() -> ElementwiseFn { return &SelectLoop<T>; });
}

ElementwiseFn CopyFn(int64_t width) {
  return DispatchWidth(
      width, []<typename T>() -> ElementwiseFn { return &CopyLoop<T>; });
}

}  // namespace hone::hlo::evaluator
