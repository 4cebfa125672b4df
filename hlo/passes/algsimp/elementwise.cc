// op(broadcast(a), broadcast(b), …) → broadcast(op(a, b, …)), for every
// elementwise operation. Exact; does less work.
//
// All operands are broadcasts with the same dimensions of equal-shaped arrays,
// or of scalars, which are first broadcast to that shape. When that does not
// raise the count: the new small broadcasts are paid for by those that nothing
// else uses.

#include "hlo/passes/algsimp/rules.h"

namespace hone::hlo::algsimp {

bool SimplifyElementwise(Rewriter& r, InstructionId id) {
  const Instruction& instruction = r[id];
  const InstructionIds& operands = instruction.operands();
  if (operands.empty() || instruction.shape().IsScalar() ||
      instruction.opcode() == Opcode::kCopy ||
      instruction.opcode() == Opcode::kBitcastConvert) {
    return false;
  }
  // The broadcast that gives the small shape: one of a non-scalar if any is.
  InstructionId model = kNoInstruction;
  for (InstructionId operand : operands) {
    if (!r.Is(operand, Opcode::kBroadcast) ||
        r.dimensions_of(operand) != instruction.shape().dimensions()) {
      return false;
    }
    if (model == kNoInstruction || r.shape(r.operand(model, 0)).IsScalar()) {
      model = operand;
    } else if (!r.shape(r.operand(operand, 0)).IsScalar() &&
               (r[operand].dimensions() != r[model].dimensions() ||
                r.dimensions_of(r.operand(operand, 0)) !=
                    r.dimensions_of(r.operand(model, 0)))) {
      return false;
    }
  }
  const DimensionVector& small = r.dimensions_of(r.operand(model, 0));
  int freed = 0;
  int added = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    const InstructionId operand = operands[i];
    bool seen = false;
    for (size_t j = 0; j < i; ++j) seen |= operands[j] == operand;
    if (seen) continue;
    if (r.DiesWith(operand, id)) ++freed;
    if (r.dimensions_of(r.operand(operand, 0)) != small) ++added;
  }
  // Beside those, one operation and one broadcast come, one operation goes.
  if (freed < 1 + added) return false;

  InstructionIds sources;
  for (InstructionId operand : operands) {
    const InstructionId source = r.operand(operand, 0);
    sources.push_back(r.dimensions_of(source) == small
                          ? source
                          : MakeBroadcast(r, source, small, {}));
  }
  return r.Replace(
      id, MakeBroadcast(r, MakeLike(r, id, sources), r.dimensions_of(id),
                        r[model].dimensions()));
}

}  // namespace hone::hlo::algsimp
