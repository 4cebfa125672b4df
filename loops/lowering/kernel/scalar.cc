#include "loops/lowering/kernel/scalar.h"

#include <limits>
#include <utility>

#include "absl/container/flat_hash_map.h"

#include "base/status_macros.h"
#include "loops/lowering/graph/unsupported.h"

namespace hone::loops {
namespace {

using hlo::ElementKind;
using hlo::ElementType;
using hlo::Opcode;

// The largest number of nodes of one application of a region.
constexpr size_t kMaxRegionNodes = 2000;

size_t CountNodes(const Expression& expression) {
  size_t count = 1;
  for (const ExpressionPtr& operand : expression.operands()) {
    count += CountNodes(*operand);
  }
  return count;
}

// Implements reduce-precision by conversion to a narrow type and back, if the
// format is that of a type. Results below its least normal number become zero.
absl::StatusOr<ExpressionPtr> ReducePrecision(
    const hlo::Instruction& instruction, ExpressionPtr operand) {
  const ElementType type = instruction.shape().element_type();
  const bool is_wide = type == ElementType::kF64;
  const int64_t exponent = instruction.attributes().exponent_bits;
  const int64_t mantissa = instruction.attributes().mantissa_bits;
  ElementType narrow = ElementType::kInvalid;
  // Numbers below this round to less than the least normal number.
  double least = 0;
  if (exponent == 8 && mantissa == 23) {
    narrow = ElementType::kF32;
    if (is_wide) least = 0x1p-126 - 0x1p-151;
  } else if (exponent == 8 && mantissa == 7 && !is_wide) {
    narrow = ElementType::kBf16;
  } else if (exponent == 5 && mantissa == 10 && !is_wide) {
    narrow = ElementType::kF16;
    least = 0x1p-14 - 0x1p-26;
  } else {
    // An f64 would be rounded twice on its way to 16 bits.
    return Unsupported(instruction, "a format that no element type has");
  }
  ExpressionPtr rounded = Converted(type, Converted(narrow, operand));
  if (least == 0) return rounded;
  const ExpressionPtr zero = Expression::Apply(
      Opcode::kMultiply, type, {operand, Expression::Constant(type, 0)});
  const ExpressionPtr is_small =
      Expression::Compare(hlo::ComparisonDirection::kLt, /*total_order=*/false,
                          Expression::Apply(Opcode::kAbs, type, {operand}),
                          Expression::Constant(type, least));
  return Expression::Apply(Opcode::kSelect, type,
                           {is_small, zero, std::move(rounded)});
}

}  // namespace

ExpressionPtr ConstantOf(const hlo::Literal& literal, int64_t i) {
  const ElementType type = literal.shape().element_type();
  if (hlo::IsFloat(type)) {
    return Expression::Constant(type, literal.AsDouble(i));
  }
  return Expression::ConstantInt(type, literal.AsInt(i));
}

ExpressionPtr Apply(hlo::Opcode opcode, ExpressionPtr a, ExpressionPtr b) {
  const hlo::ElementType type = a->type();
  return Expression::Apply(opcode, type, {std::move(a), std::move(b)});
}

ExpressionPtr Less(ExpressionPtr a, ExpressionPtr b) {
  return Expression::Compare(hlo::ComparisonDirection::kLt,
                             /*total_order=*/false, std::move(a), std::move(b));
}

ExpressionPtr Converted(ElementType type, ExpressionPtr operand) {
  if (operand->type() == type) return operand;
  return Expression::Apply(Opcode::kConvert, type, {std::move(operand)});
}

absl::StatusOr<ExpressionPtr> ApplyElementwise(
    const hlo::Instruction& instruction, std::vector<ExpressionPtr> operands) {
  const ElementType type = instruction.shape().element_type();
  switch (instruction.opcode()) {
    case Opcode::kCopy:
      return operands[0];
    case Opcode::kConvert:
      return Converted(type, operands[0]);
    case Opcode::kCompare:
      return Expression::Compare(
          instruction.attributes().direction,
          instruction.attributes().comparison_type == "TOTALORDER", operands[0],
          operands[1]);
    case Opcode::kReducePrecision:
      return ReducePrecision(instruction, operands[0]);
    case Opcode::kBitcastConvert:
      if (hlo::BitWidth(type) != hlo::BitWidth(operands[0]->type())) {
        return Unsupported(instruction, "the width changes");
      }
      break;
    case Opcode::kComplex:
    case Opcode::kImag:
    case Opcode::kReal:
      return Unsupported(instruction);
    default:
      break;
  }
  return Expression::Apply(instruction.opcode(), type, std::move(operands));
}

absl::StatusOr<std::vector<ExpressionPtr>> ApplyRegion(
    const hlo::Module& module, hlo::ComputationId region,
    absl::Span<const ExpressionPtr> arguments) {
  const hlo::Computation& computation = module.computation(region);
  absl::flat_hash_map<hlo::InstructionId, std::vector<ExpressionPtr>> values;
  for (hlo::InstructionId id : computation.PostOrder()) {
    const hlo::Instruction& instruction = computation[id];
    HONE_RETURN_IF_ERROR(CheckShape(instruction, instruction.shape()));
    if (instruction.shape().IsArray() && !instruction.shape().IsScalar()) {
      return Unsupported(instruction, "an array in a region");
    }
    std::vector<ExpressionPtr> operands;
    for (hlo::InstructionId operand : instruction.operands()) {
      const auto& parts = values[operand];
      operands.insert(operands.end(), parts.begin(), parts.end());
    }
    std::vector<ExpressionPtr>& result = values[id];
    switch (instruction.opcode()) {
      case Opcode::kParameter:
        result = {arguments[static_cast<size_t>(instruction.index())]};
        break;
      case Opcode::kConstant:
        if (instruction.literal()->is_elided()) {
          return Unsupported(instruction, "its value is elided");
        }
        result = {ConstantOf(*instruction.literal(), 0)};
        break;
      case Opcode::kTuple:
      case Opcode::kReshape:
      case Opcode::kBitcast:
      case Opcode::kBroadcast:
        result = std::move(operands);
        break;
      case Opcode::kGetTupleElement:
        if (operands.size() != computation[instruction.operand(0)]
                                   .shape()
                                   .tuple_elements()
                                   .size()) {
          return Unsupported(instruction, "nested tuples in a region");
        }
        result = {operands[static_cast<size_t>(instruction.index())]};
        break;
      case Opcode::kMap: {
        HONE_ASSIGN_OR_RETURN(
            result, ApplyRegion(module, instruction.called()[0], operands));
        break;
      }
      default: {
        if (!hlo::IsElementwise(instruction.opcode())) {
          return Unsupported(instruction, "in a region");
        }
        HONE_ASSIGN_OR_RETURN(
            ExpressionPtr value,
            ApplyElementwise(instruction, std::move(operands)));
        if (CountNodes(*value) > kMaxRegionNodes) {
          return Unsupported(instruction, "the region is too large");
        }
        result = {std::move(value)};
      }
    }
  }
  return values[computation.root()];
}

ElementType UnsignedOf(ElementType type) {
  switch (hlo::ByteWidth(type)) {
    case 1:
      return ElementType::kU8;
    case 2:
      return ElementType::kU16;
    case 4:
      return ElementType::kU32;
    default:
      return ElementType::kU64;
  }
}

ExpressionPtr IdentityOf(Opcode opcode, ElementType type) {
  const int bits = hlo::BitWidth(type);
  const bool is_float = hlo::IsFloat(type);
  const double infinity = std::numeric_limits<double>::infinity();
  const bool is_signed = hlo::IsSigned(type);
  const bool is_pred = hlo::KindOf(type) == ElementKind::kPred;
  // All ones, which for u64 is the same bits as -1.
  const uint64_t ones = ~uint64_t{0} >> (64 - bits);
  const int64_t greatest =
      is_pred ? 1 : static_cast<int64_t>(is_signed ? ones >> 1 : ones);
  switch (opcode) {
    case Opcode::kMultiply:
      return is_float ? Expression::Constant(type, 1)
                      : Expression::ConstantInt(type, 1);
    case Opcode::kMaximum:
      if (is_float) return Expression::Constant(type, -infinity);
      return Expression::ConstantInt(type, is_signed ? -greatest - 1 : 0);
    case Opcode::kMinimum:
      if (is_float) return Expression::Constant(type, infinity);
      return Expression::ConstantInt(type, greatest);
    case Opcode::kAnd:
      return Expression::ConstantInt(type, is_signed ? -1 : greatest);
    default:  // add, or, xor
      return is_float ? Expression::Constant(type, 0)
                      : Expression::ConstantInt(type, 0);
  }
}

}  // namespace hone::loops
