#include <bit>
#include <cmath>
#include <limits>

#include "base/status_macros.h"
#include "hlo/evaluator/elementwise/arithmetic.h"
#include "hlo/evaluator/kernels.h"
#include "hlo/evaluator/types.h"

namespace hone::hlo::evaluator {
namespace {

// Rounds to the nearest value, ties to even, of a float format with the given
// exponent and mantissa bits; what overflows becomes infinite, what is below
// the smallest normal value becomes zero.
template <Floating T>
T Reduce(T x, int exponent_bits, int mantissa_bits) {
  using U = BitsOf<T>;
  constexpr int kMantissa = std::numeric_limits<T>::digits - 1;
  constexpr int kExponent = static_cast<int>(sizeof(T)) * 8 - 1 - kMantissa;
  constexpr U kSign = U{1} << (sizeof(T) * 8 - 1);
  if (!(std::fabs(x) < std::numeric_limits<T>::infinity())) return x;
  const U sign = std::bit_cast<U>(x) & kSign;
  U bits = std::bit_cast<U>(x) & ~kSign;
  if (mantissa_bits < kMantissa) {
    const int dropped = kMantissa - mantissa_bits;
    const U last = (bits >> dropped) & 1;
    bits += (U{1} << (dropped - 1)) - 1 + last;
    bits &= ~((U{1} << dropped) - 1);
  }
  if (exponent_bits < kExponent) {
    const U bias = (U{1} << (kExponent - 1)) - 1;
    const U reduced_bias = (U{1} << (exponent_bits - 1)) - 1;
    const U exponent = bits >> kMantissa;
    if (exponent > bias + reduced_bias) {
      bits = std::bit_cast<U>(std::numeric_limits<T>::infinity());
    } else if (exponent <= bias - reduced_bias) {
      bits = 0;
    }
  }
  return std::bit_cast<T>(sign | bits);
}

}  // namespace

absl::StatusOr<Literal> EvaluateReducePrecision(Context& context,
                                                const Operation& operation) {
  const int exponent_bits =
      static_cast<int>(operation.attributes().exponent_bits);
  const int mantissa_bits =
      static_cast<int>(operation.attributes().mantissa_bits);
  const ElementType type = ComputeType(operation.shape().element_type());
  HONE_ASSIGN_OR_RETURN(
      const Literal operand,
      Convert(context, std::move(operation.operands[0]), type));
  HONE_ASSIGN_OR_RETURN(Literal result, context.Allocate(WithElementType(
                                            operation.shape(), type)));
  DispatchType(type, [&]<typename T>() {
    if constexpr (Floating<T>) {
      const absl::Span<const T> x = operand.values<T>();
      const absl::Span<T> out = result.mutable_values<T>();
      for (size_t i = 0; i < x.size(); ++i) {
        out[i] = Reduce(x[i], exponent_bits, mantissa_bits);
      }
    }
    return true;
  });
  return Convert(context, std::move(result), operation.shape().element_type());
}

}  // namespace hone::hlo::evaluator
