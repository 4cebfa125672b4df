#include "loops/ir/operation_types.h"

#include <vector>

#include "hlo/evaluator/elementwise/elementwise.h"

namespace hone::loops {
namespace {

using hlo::ElementType;
using hlo::Opcode;

// Returns the type of the parts of a complex type; other types unchanged.
ElementType PartType(ElementType type) {
  if (type == ElementType::kC64) return ElementType::kF32;
  if (type == ElementType::kC128) return ElementType::kF64;
  return type;
}

// Returns the type that the opcode would give; kInvalid if operands differ that
// must be equal.
ElementType CandidateType(Opcode opcode,
                          absl::Span<const ElementType> operands) {
  const ElementType type = operands.back();
  const size_t first = opcode == Opcode::kSelect ? 1 : 0;
  for (ElementType operand : operands.subspan(first)) {
    if (operand != type) return ElementType::kInvalid;
  }
  switch (opcode) {
    case Opcode::kSelect:
      return operands[0] == ElementType::kPred ? type : ElementType::kInvalid;
    case Opcode::kCompare:
    case Opcode::kIsFinite:
      return ElementType::kPred;
    case Opcode::kAbs:
    case Opcode::kImag:
    case Opcode::kReal:
      return PartType(type);
    case Opcode::kComplex:
      if (type == ElementType::kF32) return ElementType::kC64;
      if (type == ElementType::kF64) return ElementType::kC128;
      return ElementType::kInvalid;
    default:
      return type;
  }
}

}  // namespace

ElementType ResultType(Opcode opcode, absl::Span<const ElementType> operands) {
  if (!hlo::IsElementwise(opcode) ||
      static_cast<int>(operands.size()) != hlo::OpcodeArity(opcode)) {
    return ElementType::kInvalid;
  }
  for (ElementType operand : operands) {
    if (hlo::KindOf(operand) == hlo::ElementKind::kNone) {
      return ElementType::kInvalid;
    }
  }
  const ElementType type = CandidateType(opcode, operands);
  if (type == ElementType::kInvalid) return type;
  const hlo::evaluator::ElementwiseKernel kernel = hlo::evaluator::KernelOf(
      opcode, hlo::ComparisonDirection::kEq, false, operands.back(), type);
  return kernel.fn == nullptr ? ElementType::kInvalid : type;
}

bool IsWellTyped(const Expression& apply) {
  std::vector<ElementType> operands;
  for (const ExpressionPtr& operand : apply.operands()) {
    operands.push_back(operand->type());
  }
  if (hlo::KindOf(apply.type()) == hlo::ElementKind::kNone) return false;
  const bool one_array = operands.size() == 1 &&
                         hlo::KindOf(operands[0]) != hlo::ElementKind::kNone;
  switch (apply.opcode()) {
    case Opcode::kConvert:
      return one_array;
    case Opcode::kBitcastConvert:
      return one_array &&
             hlo::evaluator::KernelOf(apply.opcode(), apply.direction(), false,
                                      operands[0], apply.type())
                     .fn != nullptr;
    case Opcode::kCompare:
      // Complex numbers are equal or not, but in no order.
      return ResultType(apply.opcode(), operands) == apply.type() &&
             hlo::evaluator::KernelOf(apply.opcode(), apply.direction(),
                                      apply.total_order(), operands[0],
                                      apply.type())
                     .fn != nullptr;
    default:
      return ResultType(apply.opcode(), operands) == apply.type();
  }
}

bool CanCombine(Opcode opcode, ElementType type) {
  switch (opcode) {
    case Opcode::kAdd:
    case Opcode::kAnd:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kMultiply:
    case Opcode::kOr:
    case Opcode::kXor:
      return ResultType(opcode, {type, type}) == type;
    default:
      return false;
  }
}

bool IsSlowOperation(Opcode opcode, ElementType type) {
  return hlo::IsTranscendental(opcode) ||
         (hlo::IsFloat(type) &&
          (opcode == Opcode::kMaximum || opcode == Opcode::kMinimum));
}

}  // namespace hone::loops
