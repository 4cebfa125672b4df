#include <bit>
#include <cmath>
#include <complex>
#include <cstring>

#include "hlo/evaluator/elementwise/elementwise.h"
#include "hlo/evaluator/types.h"

namespace hone::hlo::evaluator {
namespace {

// One struct per opcode; Apply exists for the types the opcode is defined on.

struct Abs {
  template <SignedInteger T>
  static T Apply(T x) {
    return x < 0 ? static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(x))
                 : x;
  }
  template <Integer T>
  requires std::is_unsigned_v<T>
  static T Apply(T x) { return x; }
  template <Floating T>
  static T Apply(T x) {
    return std::fabs(x);
  }
  template <Complex T>
  static typename T::value_type Apply(T x) {
    return std::hypot(x.real(), x.imag());
  }
};

struct Negate {
  template <Integer T>
  static T Apply(T x) {
    return static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(x));
  }
  template <typename T>
  requires Floating<T> || Complex<T>
  static T Apply(T x) { return -x; }
};

struct Sign {
  template <Integer T>
  static T Apply(T x) {
    return static_cast<T>((x > 0 ? 1 : 0) - (x < 0 ? 1 : 0));
  }
  // NaN and both zeros are their own sign.
  template <Floating T>
  static T Apply(T x) {
    return x > 0 ? T{1} : x < 0 ? T{-1} : x;
  }
  template <Complex T>
  static T Apply(T x) {
    const auto magnitude = std::hypot(x.real(), x.imag());
    return magnitude == 0 ? T{} : x / magnitude;
  }
};

struct Not {
  // A template, so that floats do not convert to bool.
  template <std::same_as<bool> T>
  static T Apply(T x) {
    return !x;
  }
  template <Integer T>
  static T Apply(T x) {
    return static_cast<T>(~x);
  }
};

struct PopulationCount {
  template <Integer T>
  static T Apply(T x) {
    return static_cast<T>(
        std::popcount(static_cast<std::make_unsigned_t<T>>(x)));
  }
};

struct CountLeadingZeros {
  template <Integer T>
  static T Apply(T x) {
    return static_cast<T>(
        std::countl_zero(static_cast<std::make_unsigned_t<T>>(x)));
  }
};

struct IsFinite {
  template <Floating T>
  static bool Apply(T x) {
    return std::fabs(x) < std::numeric_limits<T>::infinity();
  }
};

struct Real {
  template <Floating T>
  static T Apply(T x) {
    return x;
  }
  template <Complex T>
  static typename T::value_type Apply(T x) {
    return x.real();
  }
};

struct Imag {
  template <Floating T>
  static T Apply(T) {
    return 0;
  }
  template <Complex T>
  static typename T::value_type Apply(T x) {
    return x.imag();
  }
};

struct Rsqrt {
  template <Floating T>
  static T Apply(T x) {
    return T{1} / std::sqrt(x);
  }
  template <Complex T>
  static T Apply(T x) {
    return T{1} / std::sqrt(x);
  }
};

struct Logistic {
  template <typename T>
  requires Floating<T> || Complex<T>
  static T Apply(T x) { return T{1} / (T{1} + std::exp(-x)); }
};

struct Cbrt {
  template <Floating T>
  static T Apply(T x) {
    return std::cbrt(x);
  }
};

struct Erf {
  template <Floating T>
  static T Apply(T x) {
    return std::erf(x);
  }
};

struct ExponentialMinusOne {
  template <Floating T>
  static T Apply(T x) {
    return std::expm1(x);
  }
  // exp(a + bi) - 1 = expm1(a)·cos b + (cos b - 1) + i·exp(a)·sin b, where
  // cos b - 1 = -2·sin²(b/2) keeps the digits of small b.
  template <Complex T>
  static T Apply(T x) {
    using R = typename T::value_type;
    const R half_sine = std::sin(x.imag() / 2);
    return T(
        std::expm1(x.real()) * std::cos(x.imag()) - 2 * half_sine * half_sine,
        std::exp(x.real()) * std::sin(x.imag()));
  }
};

struct LogPlusOne {
  template <Floating T>
  static T Apply(T x) {
    return std::log1p(x);
  }
  // Re log(1 + a + bi) = log1p(a·(2 + a) + b²) / 2.
  template <Complex T>
  static T Apply(T x) {
    using R = typename T::value_type;
    const R a = x.real();
    const R b = x.imag();
    return T(std::log1p(a * (2 + a) + b * b) / 2, std::atan2(b, a + 1));
  }
};

struct RoundNearestAfz {
  template <Floating T>
  static T Apply(T x) {
    return std::round(x);
  }
};

// The rounding mode is the default, to nearest even.
struct RoundNearestEven {
  template <Floating T>
  static T Apply(T x) {
    return std::nearbyint(x);
  }
};

struct Floor {
  template <Floating T>
  static T Apply(T x) {
    return std::floor(x);
  }
};

struct Ceil {
  template <Floating T>
  static T Apply(T x) {
    return std::ceil(x);
  }
};

#define HONE_STD_FUNCTION(name, function)            \
  struct name {                                      \
    template <typename T>                            \
    requires Floating<T> || Complex<T>               \
    static T Apply(T x) { return std::function(x); } \
  };
HONE_STD_FUNCTION(Acos, acos)
HONE_STD_FUNCTION(Acosh, acosh)
HONE_STD_FUNCTION(Asin, asin)
HONE_STD_FUNCTION(Asinh, asinh)
HONE_STD_FUNCTION(Atan, atan)
HONE_STD_FUNCTION(Atanh, atanh)
HONE_STD_FUNCTION(Cosh, cosh)
HONE_STD_FUNCTION(Cosine, cos)
HONE_STD_FUNCTION(Exponential, exp)
HONE_STD_FUNCTION(Log, log)
HONE_STD_FUNCTION(Sine, sin)
HONE_STD_FUNCTION(Sinh, sinh)
HONE_STD_FUNCTION(Sqrt, sqrt)
HONE_STD_FUNCTION(Tan, tan)
HONE_STD_FUNCTION(Tanh, tanh)
#undef HONE_STD_FUNCTION

template <typename Op, typename T>
void Loop(const void* const* operands, void* result, int64_t n) {
  const T* x = static_cast<const T*>(operands[0]);
  auto* out = static_cast<decltype(Op::Apply(T{}))*>(result);
  HONE_VECTORIZE
  for (int64_t i = 0; i < n; ++i) out[i] = Op::Apply(x[i]);
}

template <typename Op>
ElementwiseFn FnFor(ElementType type) {
  return DispatchType(type, []<typename T>() -> ElementwiseFn {
    if constexpr (requires(T x) { Op::Apply(x); }) {
      return &Loop<Op, T>;
    } else {
      return nullptr;
    }
  });
}

}  // namespace

ElementwiseFn UnaryFn(Opcode opcode, ElementType type) {
  switch (opcode) {
    case Opcode::kAbs:
      return FnFor<Abs>(type);
    case Opcode::kAcos:
      return FnFor<Acos>(type);
    case Opcode::kAcosh:
      return FnFor<Acosh>(type);
    case Opcode::kAsin:
      return FnFor<Asin>(type);
    case Opcode::kAsinh:
      return FnFor<Asinh>(type);
    case Opcode::kAtan:
      return FnFor<Atan>(type);
    case Opcode::kAtanh:
      return FnFor<Atanh>(type);
    case Opcode::kCbrt:
      return FnFor<Cbrt>(type);
    case Opcode::kCeil:
      return FnFor<Ceil>(type);
    case Opcode::kCosh:
      return FnFor<Cosh>(type);
    case Opcode::kCosine:
      return FnFor<Cosine>(type);
    case Opcode::kCountLeadingZeros:
      return FnFor<CountLeadingZeros>(type);
    case Opcode::kErf:
      return FnFor<Erf>(type);
    case Opcode::kExponential:
      return FnFor<Exponential>(type);
    case Opcode::kExponentialMinusOne:
      return FnFor<ExponentialMinusOne>(type);
    case Opcode::kFloor:
      return FnFor<Floor>(type);
    case Opcode::kImag:
      return FnFor<Imag>(type);
    case Opcode::kIsFinite:
      return FnFor<IsFinite>(type);
    case Opcode::kLog:
      return FnFor<Log>(type);
    case Opcode::kLogPlusOne:
      return FnFor<LogPlusOne>(type);
    case Opcode::kLogistic:
      return FnFor<Logistic>(type);
    case Opcode::kNegate:
      return FnFor<Negate>(type);
    case Opcode::kNot:
      return FnFor<Not>(type);
    case Opcode::kPopcnt:
      return FnFor<PopulationCount>(type);
    case Opcode::kReal:
      return FnFor<Real>(type);
    case Opcode::kRoundNearestAfz:
      return FnFor<RoundNearestAfz>(type);
    case Opcode::kRoundNearestEven:
      return FnFor<RoundNearestEven>(type);
    case Opcode::kRsqrt:
      return FnFor<Rsqrt>(type);
    case Opcode::kSign:
      return FnFor<Sign>(type);
    case Opcode::kSine:
      return FnFor<Sine>(type);
    case Opcode::kSinh:
      return FnFor<Sinh>(type);
    case Opcode::kSqrt:
      return FnFor<Sqrt>(type);
    case Opcode::kTan:
      return FnFor<Tan>(type);
    case Opcode::kTanh:
      return FnFor<Tanh>(type);
    default:
      return nullptr;
  }
}

}  // namespace hone::hlo::evaluator
