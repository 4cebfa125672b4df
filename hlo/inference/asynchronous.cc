// Asynchronous operations: a start, for async-start any number of updates, and
// a done. The result of most starts is a tuple of operands, results and
// context.

#include <utility>

#include "base/status_macros.h"
#include "hlo/inference/internal.h"

namespace hone::hlo::inference {
namespace {

const Instruction& Producer(const Context& context) {
  return context.computation[context.instruction.operand(0)];
}

bool IsAsyncCall(Opcode opcode) {
  return opcode == Opcode::kAsyncStart || opcode == Opcode::kAsyncUpdate;
}

absl::Status UnexpectedProducer(const Context& context,
                                absl::string_view expected) {
  const Instruction& producer = Producer(context);
  return Invalid("operand 0 is ", OpcodeName(producer.opcode()), " '",
                 producer.name(), "', expected ", expected);
}

// Operand 0 is a `start`.
absl::Status ExpectStart(const Context& context, Opcode start) {
  if (Producer(context).opcode() == start) return absl::OkStatus();
  return UnexpectedProducer(context, OpcodeName(start));
}

// Operand 0 is an asynchronous call. The callee of an update or done is that of
// the operand; it need not be repeated.
absl::Status ExpectAsyncCall(const Context& context) {
  const Instruction& producer = Producer(context);
  if (!IsAsyncCall(producer.opcode())) {
    return UnexpectedProducer(context, "async-start or async-update");
  }
  const ComputationIds& called = context.instruction.called();
  if (called.empty() || producer.called().empty() ||
      called == producer.called()) {
    return absl::OkStatus();
  }
  return Invalid("another callee than '", producer.name(),
                 "', expected the same or none");
}

// Part i of the result of the start that is operand 0.
Result PartOfStart(const Context& context, size_t i) {
  const std::vector<ShapePtr>& parts = context.operand(0).tuple_elements();
  if (i < parts.size()) return PreferGiven(context, parts[i]);
  return Invalid("operand 0 is ", context.operand(0).ToString(),
                 ", expected a tuple of at least ", i + 1, " elements");
}

absl::Status ShapeMisfit(const Context& context, const Shape& operands,
                         const Shape& result) {
  return Invalid(
      "shape ",
      context.given() == nullptr ? "missing" : context.given()->ToString(),
      ", expected a tuple that begins with ", operands.ToString(), " and ",
      result.ToString());
}

// The given shape if it is a tuple of `operands`, `result` and any context.
Result ExpectParts(const Context& context, const Shape& operands,
                   const Shape& result) {
  if (context.given() != nullptr) {
    const std::vector<ShapePtr>& parts = context.given()->tuple_elements();
    if (parts.size() >= 2 && Compatible(*parts[0], operands) &&
        Compatible(*parts[1], result)) {
      return context.given();
    }
  }
  return ShapeMisfit(context, operands, result);
}

ShapePtr TupleOfOperands(const Context& context) {
  std::vector<ShapePtr> shapes;
  shapes.reserve(context.operand_count());
  for (size_t i = 0; i < context.operand_count(); ++i) {
    shapes.push_back(context.operand_ptr(i));
  }
  return Shape::Tuple(std::move(shapes));
}

Result InferAsyncStart(const Context& context) {
  HONE_ASSIGN_OR_RETURN(const Computation* callee, Callee(context, 0));
  const ShapePtr operands = TupleOfOperands(context);
  HONE_RETURN_IF_ERROR(
      ExpectParameters("callee", *callee, operands->tuple_elements()));
  return ExpectParts(context, *operands, (*callee)[callee->root()].shape());
}

Result InferAllGatherStart(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectAtLeastOperands(context, 1));
  const ShapePtr operands = context.operand_count() == 1
                                ? context.operand_ptr(0)
                                : TupleOfOperands(context);
  const ShapePtr& given = context.given();
  if (given == nullptr || given->tuple_elements().size() < 2) {
    return Invalid("shape ", given == nullptr ? "missing" : given->ToString(),
                   ", expected a tuple of operands and results");
  }
  const Shape& result = *given->tuple_elements()[1];
  HONE_RETURN_IF_ERROR(ExpectGathered(context, result));
  return ExpectParts(context, *operands, result);
}

Result InferPermuteStart(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectAtLeastOperands(context, 1));
  if (context.operand_count() == 1) {
    return ExpectParts(context, context.operand(0), context.operand(0));
  }
  // Several operands, or slices of a buffer, in place.
  if (context.given() != nullptr &&
      context.given()->tuple_elements().size() >= 2) {
    return context.given();
  }
  return Invalid(
      "shape ",
      context.given() == nullptr ? "missing" : context.given()->ToString(),
      ", expected a tuple of operands and results");
}

}  // namespace

Result InferAsyncCall(const Context& context) {
  switch (context.opcode()) {
    case Opcode::kAsyncStart:
      return InferAsyncStart(context);
    case Opcode::kAsyncUpdate:
      HONE_RETURN_IF_ERROR(ExpectOperandCount(context, 1));
      HONE_RETURN_IF_ERROR(ExpectAsyncCall(context));
      return PreferGiven(context, context.operand_ptr(0));
    default:  // async-done
      HONE_RETURN_IF_ERROR(ExpectAsyncCall(context));
      return PartOfStart(context, 1);
  }
}

Result InferStart(const Context& context) {
  switch (context.opcode()) {
    case Opcode::kAllGatherStart:
      return InferAllGatherStart(context);
    case Opcode::kCopyStart:
      return ExpectParts(context, context.operand(0), context.operand(0));
    default:  // collective-permute-start
      return InferPermuteStart(context);
  }
}

Result InferDone(const Context& context) {
  switch (context.opcode()) {
    case Opcode::kAllGatherDone:
      HONE_RETURN_IF_ERROR(ExpectStart(context, Opcode::kAllGatherStart));
      return PartOfStart(context, 1);
    case Opcode::kAllReduceDone:
      HONE_RETURN_IF_ERROR(ExpectStart(context, Opcode::kAllReduceStart));
      return PreferGiven(context, context.operand_ptr(0));
    case Opcode::kCopyDone:
      HONE_RETURN_IF_ERROR(ExpectStart(context, Opcode::kCopyStart));
      return PartOfStart(context, 0);
    default:  // collective-permute-done
      HONE_RETURN_IF_ERROR(
          ExpectStart(context, Opcode::kCollectivePermuteStart));
      return PartOfStart(context, 1);
  }
}

}  // namespace hone::hlo::inference
