#include <bit>
#include <cstdint>

#include "hlo/evaluator/elementwise/elementwise.h"
#include "hlo/evaluator/types.h"

namespace hone::hlo::evaluator {
namespace {

// The low bits, those of a value of kBits bits.
template <int kBits, typename T>
unsigned LowBits(T x) {
  return static_cast<unsigned>(x) & ((1u << kBits) - 1);
}

template <int kBits>
struct CountLeadingZeros {
  template <typename T>
  static T Apply(T x) {
    return static_cast<T>(std::countl_zero(LowBits<kBits>(x)) - (32 - kBits));
  }
};

template <int kBits>
struct PopulationCount {
  template <typename T>
  static T Apply(T x) {
    return static_cast<T>(std::popcount(LowBits<kBits>(x)));
  }
};

// Shifts by the width or more leave zero bits only; negative amounts are huge.
template <int kBits>
struct ShiftRightLogical {
  template <typename T>
  static T Apply(T a, T b) {
    const unsigned amount = LowBits<8>(b);
    return static_cast<T>(amount < kBits ? LowBits<kBits>(a) >> amount : 0);
  }
};

// Shifts in the top of kBits bits, whether the type is signed or not.
template <int kBits>
struct ShiftRightArithmetic {
  template <typename T>
  static T Apply(T a, T b) {
    const unsigned amount = LowBits<8>(b);
    const auto at_top = static_cast<int32_t>(LowBits<kBits>(a) << (32 - kBits));
    return static_cast<T>((at_top >> (32 - kBits)) >>
                          (amount < kBits ? amount : kBits - 1));
  }
};

// The upper half of the product of 2·kBits bits.
template <int kBits>
struct Mulhi {
  template <typename T>
  static T Apply(T a, T b) {
    return static_cast<T>((a * b) >> kBits);
  }
};

template <typename Op, typename T>
void UnaryLoop(const void* const* operands, void* result, int64_t n) {
  const T* x = static_cast<const T*>(operands[0]);
  T* out = static_cast<T*>(result);
  HONE_VECTORIZE
  for (int64_t i = 0; i < n; ++i) out[i] = Op::Apply(x[i]);
}

template <typename Op, typename T>
void BinaryLoop(const void* const* operands, void* result, int64_t n) {
  const T* a = static_cast<const T*>(operands[0]);
  const T* b = static_cast<const T*>(operands[1]);
  T* out = static_cast<T*>(result);
  HONE_VECTORIZE
  for (int64_t i = 0; i < n; ++i) out[i] = Op::Apply(a[i], b[i]);
}

template <int kBits, typename T>
ElementwiseFn FnFor(Opcode opcode) {
  switch (opcode) {
    case Opcode::kCountLeadingZeros:
      return &UnaryLoop<CountLeadingZeros<kBits>, T>;
    case Opcode::kMulhi:
      return &BinaryLoop<Mulhi<kBits>, T>;
    case Opcode::kPopcnt:
      // XLA:CPU extends s4 to s8 (jax 0.10.2), and only s4.
      return kBits < 4 ? &UnaryLoop<PopulationCount<kBits>, T> : nullptr;
    case Opcode::kShiftRightArithmetic:
      return &BinaryLoop<ShiftRightArithmetic<kBits>, T>;
    case Opcode::kShiftRightLogical:
      return &BinaryLoop<ShiftRightLogical<kBits>, T>;
    default:
      return nullptr;
  }
}

}  // namespace

ElementwiseFn SubByteFn(Opcode opcode, ElementType type) {
  switch (type) {
    case ElementType::kS4:
      return FnFor<4, int8_t>(opcode);
    case ElementType::kS2:
      return FnFor<2, int8_t>(opcode);
    case ElementType::kS1:
      return FnFor<1, int8_t>(opcode);
    case ElementType::kU4:
      return FnFor<4, uint8_t>(opcode);
    case ElementType::kU2:
      return FnFor<2, uint8_t>(opcode);
    case ElementType::kU1:
      return FnFor<1, uint8_t>(opcode);
    default:
      return nullptr;
  }
}

}  // namespace hone::hlo::evaluator
