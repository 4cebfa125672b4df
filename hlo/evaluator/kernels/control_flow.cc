#include <algorithm>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "hlo/evaluator/kernels.h"

namespace hone::hlo::evaluator {
namespace {

std::vector<Literal> MoveAll(absl::Span<Literal> literals) {
  return {std::make_move_iterator(literals.begin()),
          std::make_move_iterator(literals.end())};
}

std::vector<Literal> One(Literal literal) {
  std::vector<Literal> result;
  result.push_back(std::move(literal));
  return result;
}

}  // namespace

absl::StatusOr<Literal> EvaluateConstant(Context&, const Operation& operation) {
  const LiteralPtr& literal = operation.instruction.literal();
  if (literal == nullptr || HasElidedValues(*literal)) {
    return UnimplementedError(operation.instruction,
                              "its values were left out of the text");
  }
  return *literal;
}

// opt-barrier, copy: the operand itself.
absl::StatusOr<Literal> EvaluateForward(Context&, const Operation& operation) {
  return std::move(operation.operands[0]);
}

absl::StatusOr<Literal> EvaluateTuple(Context&, const Operation& operation) {
  return Literal::Tuple(MoveAll(operation.operands));
}

absl::StatusOr<Literal> EvaluateGetTupleElement(Context&,
                                                const Operation& operation) {
  return operation.operands[0]
      .elements()[static_cast<size_t>(operation.instruction.index())];
}

absl::StatusOr<Literal> EvaluateGetDimensionSize(Context&,
                                                 const Operation& operation) {
  const Shape& shape = operation.operands[0].shape();
  const int64_t dimension = operation.attributes().dimensions.front();
  if (shape.is_dynamic_dimension(dimension)) {
    return UnimplementedError(operation.instruction, "the size is dynamic");
  }
  return Literal::ScalarInt(operation.shape().element_type(),
                            shape.dimension(dimension));
}

absl::StatusOr<Literal> EvaluateCall(Context& context,
                                     const Operation& operation) {
  return context.Run(operation.instruction.called()[0],
                     MoveAll(operation.operands));
}

absl::StatusOr<Literal> EvaluateConditional(Context& context,
                                            const Operation& operation) {
  const Literal& selector = operation.operands[0];
  const ComputationIds& branches = operation.instruction.called();
  const int64_t count = static_cast<int64_t>(branches.size());
  int64_t branch;
  if (selector.shape().element_type() == ElementType::kPred) {
    branch = selector.AsInt(0) != 0 ? 0 : 1;
  } else {
    // Out of range selects the last branch.
    branch = selector.AsInt(0);
    if (branch < 0 || branch >= count) branch = count - 1;
  }
  context.Took(operation.instruction, branch);
  return context.Run(
      branches[static_cast<size_t>(branch)],
      One(std::move(operation.operands[static_cast<size_t>(branch) + 1])));
}

absl::StatusOr<Literal> EvaluateWhile(Context& context,
                                      const Operation& operation) {
  const ComputationId condition = operation.instruction.called()[0];
  const ComputationId body = operation.instruction.called()[1];
  Literal state = std::move(operation.operands[0]);
  for (int64_t trips = 0;; ++trips) {
    HONE_ASSIGN_OR_RETURN(const Literal proceed,
                          context.Run(condition, One(state)));
    if (proceed.AsInt(0) == 0) {
      context.Took(operation.instruction, Coverage::WayOfTrips(trips));
      return state;
    }
    HONE_RETURN_IF_ERROR(context.CountLoopStep());
    // The body owns the state, so that it may update it in place.
    HONE_ASSIGN_OR_RETURN(state, context.Run(body, One(std::move(state))));
  }
}

}  // namespace hone::hlo::evaluator
