#include <cmath>
#include <complex>
#include <limits>

#include "hlo/evaluator/elementwise/arithmetic.h"
#include "hlo/evaluator/elementwise/elementwise.h"
#include "hlo/evaluator/types.h"

namespace hone::hlo::evaluator {
namespace {

// One struct per opcode; Apply exists for the types the opcode is defined on.
// Add, Multiply, Maximum, Minimum, And and Or are in arithmetic.h.

struct Subtract {
  template <Integer T>
  static T Apply(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) -
                          static_cast<Wrapping<T>>(b));
  }
  template <typename T>
  requires Floating<T> || Complex<T>
  static T Apply(T a, T b) { return a - b; }
};

// Integers: x / 0 is all ones; the smallest / -1 is itself.
struct Divide {
  template <Integer T>
  static T Apply(T a, T b) {
    if (b == 0) return static_cast<T>(~T{0});
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return Subtract::Apply(T{0}, a);
    }
    return static_cast<T>(a / b);
  }
  template <typename T>
  requires Floating<T> || Complex<T>
  static T Apply(T a, T b) { return a / b; }
};

// Integers: x mod 0 is x. The sign is the dividend's.
struct Remainder {
  template <Integer T>
  static T Apply(T a, T b) {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
    }
    return static_cast<T>(a % b);
  }
  template <Floating T>
  static T Apply(T a, T b) {
    return std::fmod(a, b);
  }
};

struct Power {
  // Negative exponents: the truncated quotient of 1 and the power; 0 to one is
  // 0.
  template <Integer T>
  static T Apply(T a, T b) {
    if constexpr (std::is_signed_v<T>) {
      if (b < 0) {
        if (a == 1) return 1;
        if (a == -1) return static_cast<T>(b % 2 == 0 ? 1 : -1);
        return 0;
      }
    }
    Wrapping<T> base = static_cast<Wrapping<T>>(a);
    Wrapping<T> result = 1;
    for (auto e = static_cast<std::make_unsigned_t<T>>(b); e != 0;
         e = static_cast<std::make_unsigned_t<T>>(e >> 1)) {
      if (e & 1) result *= base;
      base *= base;
    }
    return static_cast<T>(result);
  }
  template <Floating T>
  static T Apply(T a, T b) {
    return std::pow(a, b);
  }
  template <Complex T>
  static T Apply(T a, T b) {
    if (b == T{}) return T{1};
    if (a == T{}) return T{};
    return std::pow(a, b);
  }
};

struct Xor {
  template <std::integral T>
  static T Apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

// Shifts by the width or more (negative amounts count as huge) shift
// everything out.
template <Integer T>
bool ShiftsOut(T amount) {
  return static_cast<std::make_unsigned_t<T>>(amount) >= sizeof(T) * 8;
}

struct ShiftLeft {
  template <Integer T>
  static T Apply(T a, T b) {
    if (ShiftsOut(b)) return 0;
    return static_cast<T>(static_cast<Wrapping<T>>(a)
                          << static_cast<unsigned>(b));
  }
};

struct ShiftRightLogical {
  template <Integer T>
  static T Apply(T a, T b) {
    if (ShiftsOut(b)) return 0;
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) >>
                          static_cast<unsigned>(b));
  }
};

struct ShiftRightArithmetic {
  template <Integer T>
  static T Apply(T a, T b) {
    using S = std::make_signed_t<T>;
    const unsigned amount = ShiftsOut(b)
                                ? static_cast<unsigned>(sizeof(T) * 8 - 1)
                                : static_cast<unsigned>(b);
    return static_cast<T>(static_cast<S>(a) >> amount);
  }
};

struct Atan2 {
  template <Floating T>
  static T Apply(T a, T b) {
    return std::atan2(a, b);
  }
};

struct MakeComplex {
  template <Floating T>
  static std::complex<T> Apply(T a, T b) {
    return {a, b};
  }
};

// The upper half of the product of twice the width.
struct Mulhi {
  template <Integer T>
  static T Apply(T a, T b) {
    using Wide =
        std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >>
                          (sizeof(T) * 8));
  }
};

template <typename Op, typename T>
void Loop(const void* const* operands, void* result, int64_t n) {
  const T* a = static_cast<const T*>(operands[0]);
  const T* b = static_cast<const T*>(operands[1]);
  auto* out = static_cast<decltype(Op::Apply(T{}, T{}))*>(result);
  HONE_VECTORIZE
  for (int64_t i = 0; i < n; ++i) out[i] = Op::Apply(a[i], b[i]);
}

template <typename Op>
ElementwiseFn FnFor(ElementType type) {
  return DispatchType(type, []<typename T>() -> ElementwiseFn {
    if constexpr (requires(T x) { Op::Apply(x, x); }) {
      return &Loop<Op, T>;
    } else {
      return nullptr;
    }
  });
}

}  // namespace

ElementwiseFn BinaryFn(Opcode opcode, ElementType type) {
  switch (opcode) {
    case Opcode::kAdd:
      return FnFor<Add>(type);
    case Opcode::kAnd:
      return FnFor<And>(type);
    case Opcode::kAtan2:
      return FnFor<Atan2>(type);
    case Opcode::kComplex:
      return FnFor<MakeComplex>(type);
    case Opcode::kDivide:
      return FnFor<Divide>(type);
    case Opcode::kMaximum:
      return FnFor<Maximum>(type);
    case Opcode::kMinimum:
      return FnFor<Minimum>(type);
    case Opcode::kMulhi:
      return FnFor<Mulhi>(type);
    case Opcode::kMultiply:
      return FnFor<Multiply>(type);
    case Opcode::kOr:
      return FnFor<Or>(type);
    case Opcode::kPower:
      return FnFor<Power>(type);
    case Opcode::kRemainder:
      return FnFor<Remainder>(type);
    case Opcode::kShiftLeft:
      return FnFor<ShiftLeft>(type);
    case Opcode::kShiftRightArithmetic:
      return FnFor<ShiftRightArithmetic>(type);
    case Opcode::kShiftRightLogical:
      return FnFor<ShiftRightLogical>(type);
    case Opcode::kSubtract:
      return FnFor<Subtract>(type);
    case Opcode::kXor:
      return FnFor<Xor>(type);
    default:
      return nullptr;
  }
}

}  // namespace hone::hlo::evaluator
