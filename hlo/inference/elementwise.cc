#include "absl/strings/escaping.h"

#include "base/status_macros.h"
#include "hlo/inference/internal.h"

namespace hone::hlo::inference {
namespace {

// A set of element kinds, one bit each.
constexpr unsigned Bit(ElementKind kind) {
  return 1u << static_cast<unsigned>(kind);
}
constexpr unsigned kPredBit = Bit(ElementKind::kPred);
constexpr unsigned kSignedBit = Bit(ElementKind::kSigned);
constexpr unsigned kIntegers = kSignedBit | Bit(ElementKind::kUnsigned);
constexpr unsigned kFloats = Bit(ElementKind::kFloat);
constexpr unsigned kComplexes = Bit(ElementKind::kComplex);
constexpr unsigned kNumbers = kIntegers | kFloats | kComplexes;

struct AcceptedKinds {
  unsigned kinds;
  absl::string_view text;
};

AcceptedKinds AcceptedBy(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAdd:
    case Opcode::kMultiply:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      return {kPredBit | kNumbers, "any"};
    case Opcode::kAbs:
    case Opcode::kNegate:
    case Opcode::kDivide:
    case Opcode::kPower:
    case Opcode::kSubtract:
      return {kNumbers, "a number"};
    case Opcode::kRemainder:
      return {kIntegers | kFloats, "a real number"};
    case Opcode::kSign:
      return {kSignedBit | kFloats | kComplexes,
              "a signed, floating-point or complex number"};
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kNot:
      return {kPredBit | kIntegers, "pred or an integer"};
    case Opcode::kCountLeadingZeros:
    case Opcode::kMulhi:
    case Opcode::kPopcnt:
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kShiftRightLogical:
      return {kIntegers, "an integer"};
    case Opcode::kCeil:
    case Opcode::kErf:
    case Opcode::kFloor:
    case Opcode::kIsFinite:
    case Opcode::kReducePrecision:
    case Opcode::kRoundNearestAfz:
    case Opcode::kRoundNearestEven:
      return {kFloats, "a floating-point type"};
    default:
      return {kFloats | kComplexes, "a floating-point or complex type"};
  }
}

absl::Status ExpectAcceptedKind(const Context& context, size_t i) {
  const AcceptedKinds accepted = AcceptedBy(context.opcode());
  const ElementType type = context.operand(i).element_type();
  if ((accepted.kinds & Bit(KindOf(type))) != 0) return absl::OkStatus();
  return Invalid("operand ", i, " has element type ", ElementTypeName(type),
                 ", expected ", accepted.text);
}

absl::Status ExpectSameType(const Context& context, size_t a, size_t b) {
  return ExpectType(context, b, context.operand(a).element_type());
}

// The type of the real part.
ElementType RealType(ElementType type) {
  switch (type) {
    case ElementType::kC64:
      return ElementType::kF32;
    case ElementType::kC128:
      return ElementType::kF64;
    default:
      return type;
  }
}

// Operand `i` may be a scalar that applies to every element of the result.
absl::Status ExpectScalarOrSameSizes(const Context& context, size_t i,
                                     size_t full) {
  if (context.operand(i).IsScalar()) return absl::OkStatus();
  return ExpectSameSizes(context, full, i);
}

}  // namespace

Result InferUnary(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectArray(context, 0));
  HONE_RETURN_IF_ERROR(ExpectAcceptedKind(context, 0));
  const Shape& operand = context.operand(0);
  switch (context.opcode()) {
    case Opcode::kIsFinite:
      return ArrayOf(context, ElementType::kPred, operand.dimensions());
    case Opcode::kAbs:
    case Opcode::kImag:
    case Opcode::kReal:
      if (IsComplex(operand.element_type())) {
        return ArrayOf(context, RealType(operand.element_type()),
                       operand.dimensions());
      }
      break;
    case Opcode::kReducePrecision: {
      const Attributes& a = context.attributes();
      if (a.exponent_bits < 1 || a.mantissa_bits < 0) {
        return Invalid("exponent_bits=", a.exponent_bits,
                       ", mantissa_bits=", a.mantissa_bits,
                       ", expected at least 1 and 0");
      }
      break;
    }
    default:
      break;
  }
  return PreferGiven(context, context.operand_ptr(0));
}

Result InferBinary(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectArrays(context));
  HONE_RETURN_IF_ERROR(ExpectAcceptedKind(context, 0));
  HONE_RETURN_IF_ERROR(ExpectSameType(context, 0, 1));
  HONE_RETURN_IF_ERROR(ExpectSameSizes(context, 0, 1));
  return PreferGiven(context, context.operand_ptr(0));
}

namespace {

// Returns true if `order`, the attribute `type` of a comparison, is one of
// `type`.
bool FitsComparison(absl::string_view order, ElementType type) {
  switch (KindOf(type)) {
    case ElementKind::kFloat:
      return order == "FLOAT" || order == "TOTALORDER";
    case ElementKind::kComplex:
      return order == "FLOAT";
    case ElementKind::kSigned:
      return order == "SIGNED";
    case ElementKind::kUnsigned:
    case ElementKind::kPred:
      return order == "UNSIGNED";
    default:
      return false;
  }
}

}  // namespace

Result InferCompare(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectArrays(context));
  HONE_RETURN_IF_ERROR(ExpectSameType(context, 0, 1));
  HONE_RETURN_IF_ERROR(ExpectSameSizes(context, 0, 1));
  const ElementType type = context.operand(0).element_type();
  const std::string& order = context.attributes().comparison_type;
  if (!order.empty() && !FitsComparison(order, type)) {
    return Invalid(
        "comparison of ", ElementTypeName(type), " of type '",
        absl::CHexEscape(order),
        "', expected FLOAT or TOTALORDER of floats, SIGNED of signed "
        "or UNSIGNED of unsigned integers and pred");
  }
  const ComparisonDirection direction = context.attributes().direction;
  if (IsComplex(type) && direction != ComparisonDirection::kEq &&
      direction != ComparisonDirection::kNe) {
    return Invalid("ordered comparison of ", ElementTypeName(type),
                   ", expected direction EQ or NE");
  }
  return ArrayOf(context, ElementType::kPred, context.operand(0).dimensions());
}

Result InferSelect(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectType(context, 0, ElementType::kPred));
  if (!Compatible(context.operand(1), context.operand(2))) {
    return Invalid("operand 2 is ", context.operand(2).ToString(),
                   ", expected the shape of operand 1, ",
                   context.operand(1).ToString());
  }
  HONE_RETURN_IF_ERROR(ExpectScalarOrSameSizes(context, 0, 1));
  return PreferGiven(context, context.operand_ptr(1));
}

Result InferClamp(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectArrays(context));
  for (size_t i : {size_t{0}, size_t{2}}) {
    HONE_RETURN_IF_ERROR(ExpectSameType(context, 1, i));
    HONE_RETURN_IF_ERROR(ExpectScalarOrSameSizes(context, i, 1));
  }
  if (IsComplex(context.operand(1).element_type())) {
    return Invalid("operand 1 is ", context.operand(1).ToString(),
                   ", expected an ordered element type");
  }
  return PreferGiven(context, context.operand_ptr(1));
}

Result InferComplex(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectArrays(context));
  HONE_RETURN_IF_ERROR(ExpectSameType(context, 0, 1));
  HONE_RETURN_IF_ERROR(ExpectSameSizes(context, 0, 1));
  const ElementType part = context.operand(0).element_type();
  if (part != ElementType::kF32 && part != ElementType::kF64) {
    return Invalid("operand 0 has element type ", ElementTypeName(part),
                   ", expected f32 or f64");
  }
  return ArrayOf(
      context,
      part == ElementType::kF32 ? ElementType::kC64 : ElementType::kC128,
      context.operand(0).dimensions());
}

Result InferConvert(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectArrays(context));
  HONE_RETURN_IF_ERROR(ExpectGivenArray(context));
  if (context.opcode() == Opcode::kStochasticConvert) {
    HONE_RETURN_IF_ERROR(ExpectSameSizes(context, 0, 1));
  }
  const ElementType type = context.given()->element_type();
  if (IsComplex(context.operand(0).element_type()) && !IsComplex(type)) {
    return Invalid("conversion of ", context.operand(0).ToString(), " to ",
                   ElementTypeName(type), ", expected a complex type");
  }
  return ArrayOf(context, type, context.operand(0).dimensions());
}

Result InferBitcastConvert(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectArray(context, 0));
  HONE_RETURN_IF_ERROR(ExpectGivenArray(context));
  const Shape& operand = context.operand(0);
  const ElementType type = context.given()->element_type();
  if (IsComplex(operand.element_type()) != IsComplex(type)) {
    return Invalid("bits of ", operand.ToString(), " as ",
                   ElementTypeName(type),
                   ", expected both or neither to be complex");
  }
  const int from = BitWidth(operand.element_type());
  const int to = BitWidth(type);
  DimensionVector sizes = operand.dimensions();
  if (from > to) {
    // Each element becomes several along a new minor dimension.
    if (from % to != 0) {
      return Invalid("bits of ", operand.ToString(), " as ",
                     ElementTypeName(type),
                     ", expected one width to divide the other");
    }
    sizes.push_back(from / to);
  } else if (from < to) {
    if (sizes.empty() || to % from != 0 || sizes.back() != to / from) {
      return Invalid(
          "bits of ", operand.ToString(), " as ", ElementTypeName(type),
          ", expected a last dimension of one ", ElementTypeName(type));
    }
    sizes.pop_back();
  }
  return ArrayOf(context, type, sizes);
}

}  // namespace hone::hlo::inference
