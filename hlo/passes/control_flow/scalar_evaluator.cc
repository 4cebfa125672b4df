#include "hlo/passes/control_flow/scalar_evaluator.h"

#include <utility>
#include <vector>

#include "hlo/evaluator/evaluator.h"
#include "hlo/rewrite/values.h"

namespace hone::hlo {

std::optional<Literal> ScalarEvaluator::Value(InstructionId id, int depth) {
  constexpr int kMaxDepth = 16;
  if (depth > kMaxDepth || !computation_[id].shape().IsScalar()) {
    return std::nullopt;
  }
  if (auto it = values_.find(id); it != values_.end()) return it->second;
  std::optional<Literal> value = Compute(id, depth);
  values_.emplace(id, value);
  return value;
}

std::optional<Literal> ScalarEvaluator::Compute(InstructionId id, int depth) {
  const Instruction& instruction = computation_[id];
  if (const Literal* literal = ConstantLiteral(computation_, id)) {
    return *literal;
  }
  if (instruction.opcode() == Opcode::kGetTupleElement) {
    const Instruction& tuple = computation_[instruction.operand(0)];
    auto it = elements_.find(instruction.index());
    if (tuple.opcode() != Opcode::kParameter || it == elements_.end()) {
      return std::nullopt;
    }
    return it->second;
  }
  if (!IsElementwise(instruction.opcode())) return std::nullopt;
  std::vector<Literal> operands;
  for (InstructionId operand : instruction.operands()) {
    std::optional<Literal> value = Value(operand, depth + 1);
    if (!value.has_value()) return std::nullopt;
    operands.push_back(*std::move(value));
  }
  absl::StatusOr<Literal> result =
      EvaluateInstruction(module_, computation_, id, operands);
  if (!result.ok()) return std::nullopt;
  return *std::move(result);
}

}  // namespace hone::hlo
