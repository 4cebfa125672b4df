#include <utility>

#include "hlo/passes/algsimp/rules.h"

namespace hone::hlo::algsimp {

// op(broadcast(a), broadcast(b), …) → broadcast(op(a, b, …))
// All operands are broadcasts with the same dimensions of equal-shaped arrays,
// or of scalars, which are first broadcast to that shape; does less work. When
// that does not raise the count: the new small broadcasts are paid for by those
// that nothing else uses.
bool SimplifyElementwise(Rewriter& r, InstructionId id) {
  const Instruction& instruction = r[id];
  if (instruction.operand_count() == 0 || instruction.shape().IsScalar() ||
      instruction.opcode() == Opcode::kCopy ||
      instruction.opcode() == Opcode::kBitcastConvert) {
    return false;
  }
  // The broadcast that gives the small shape: one of a non-scalar if any is.
  InstructionId model = kNoInstruction;
  for (InstructionId operand : instruction.operands()) {
    if (!r.Is(operand, Opcode::kBroadcast) ||
        r.dimensions_of(operand) != instruction.shape().dimensions()) {
      return false;
    }
    const bool scalar = r.shape(r.operand(operand, 0)).IsScalar();
    if (model == kNoInstruction || r.shape(r.operand(model, 0)).IsScalar()) {
      model = operand;
    } else if (!scalar && (r[operand].dimensions() != r[model].dimensions() ||
                           r.dimensions_of(r.operand(operand, 0)) !=
                               r.dimensions_of(r.operand(model, 0)))) {
      return false;
    }
  }
  const DimensionVector small = r.dimensions_of(r.operand(model, 0));
  int freed = 0;
  int added = 0;
  for (size_t i = 0; i < instruction.operand_count(); ++i) {
    const InstructionId operand = instruction.operand(i);
    bool seen = false;
    for (size_t j = 0; j < i; ++j) seen |= instruction.operand(j) == operand;
    if (seen) continue;
    if (r.DiesWith(operand, id)) ++freed;
    if (r.dimensions_of(r.operand(operand, 0)) != small) ++added;
  }
  // Beside those, one operation and one broadcast come, one operation goes.
  if (freed < 1 + added) return false;

  const std::shared_ptr<const Attributes> mapping = r[model].attributes_ptr();
  InstructionIds operands;
  for (InstructionId operand : instruction.operands()) {
    const InstructionId source = r.operand(operand, 0);
    operands.push_back(r.dimensions_of(source) == small
                           ? source
                           : MakeBroadcast(r, source, small, {}));
  }
  const InstructionId result =
      r.Add(Instruction(instruction.opcode(),
                        Shape::Array(instruction.shape().element_type(), small),
                        operands, instruction.attributes_ptr()));
  return r.ReplaceWith(
      id, Instruction(Opcode::kBroadcast, instruction.shape_ptr(), {result},
                      mapping));
}

}  // namespace hone::hlo::algsimp
