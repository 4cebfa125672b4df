#include "hlo/passes/algsimp/scalars.h"

#include <cmath>
#include <limits>

#include "hlo/ir/element_type.h"

namespace hone::hlo::algsimp {
namespace {

double SmallestNormal(ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return std::numeric_limits<double>::min();
    case ElementType::kF16:
      return 0x1p-14;
    default:  // f32 and bf16 share the exponent range
      return static_cast<double>(std::numeric_limits<float>::min());
  }
}

std::optional<Literal> FoldFloats(Opcode opcode, ElementType type, double a,
                                  double b) {
  // Double carries more than twice the digits of the narrower types and two
  // more, so the second rounding, to the type, equals a single one.
  double value = 0;
  switch (opcode) {
    case Opcode::kAdd:
      value = a + b;
      break;
    case Opcode::kSubtract:
      value = a - b;
      break;
    case Opcode::kMultiply:
      value = a * b;
      break;
    default:
      return std::nullopt;
  }
  Literal result = Literal::Scalar(type, value);
  const double rounded = result.AsDouble(0);
  if (!std::isfinite(rounded) || !std::isfinite(a) || !std::isfinite(b)) {
    return std::nullopt;
  }
  if (value != 0 && std::fabs(rounded) < SmallestNormal(type)) {
    return std::nullopt;
  }
  return result;
}

std::optional<Literal> FoldIntegers(Opcode opcode, ElementType type, int64_t a,
                                    int64_t b) {
  int64_t value = 0;
  bool overflow = false;
  switch (opcode) {
    case Opcode::kAdd:
      overflow = __builtin_add_overflow(a, b, &value);
      break;
    case Opcode::kSubtract:
      overflow = __builtin_sub_overflow(a, b, &value);
      break;
    case Opcode::kMultiply:
      overflow = __builtin_mul_overflow(a, b, &value);
      break;
    default:
      return std::nullopt;
  }
  Literal result = Literal::ScalarInt(type, value);
  if (overflow || result.AsInt(0) != value) return std::nullopt;
  return result;
}

}  // namespace

std::optional<Literal> FoldScalars(Opcode opcode, const Literal& a,
                                   const Literal& b) {
  const ElementType type = a.shape().element_type();
  if (type != b.shape().element_type()) return std::nullopt;
  switch (type) {
    case ElementType::kF64:
    case ElementType::kF32:
    case ElementType::kF16:
    case ElementType::kBf16:
      return FoldFloats(opcode, type, a.AsDouble(0), b.AsDouble(0));
    case ElementType::kU64:  // does not fit int64_t
      return std::nullopt;
    default:
      if (!IsIntegral(type)) return std::nullopt;
      return FoldIntegers(opcode, type, a.AsInt(0), b.AsInt(0));
  }
}

std::optional<bool> IsAtMost(const Literal& a, const Literal& b) {
  const ElementType type = a.shape().element_type();
  if (type != b.shape().element_type()) return std::nullopt;
  if (IsIntegral(type) && type != ElementType::kU64) {
    return a.AsInt(0) <= b.AsInt(0);
  }
  if (!IsFloat(type)) return std::nullopt;
  const double x = a.AsDouble(0);
  const double y = b.AsDouble(0);
  if (std::isnan(x) || std::isnan(y)) return std::nullopt;
  return x <= y;
}

}  // namespace hone::hlo::algsimp
