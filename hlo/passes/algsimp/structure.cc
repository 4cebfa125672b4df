#include <utility>

#include "hlo/passes/algsimp/rules.h"

namespace hone::hlo::algsimp {

// get-tuple-element(tuple(…, x, …)) → x
bool SimplifyGetTupleElement(Rewriter& r, InstructionId id) {
  const InstructionId tuple = r.operand(id, 0);
  if (!r.Is(tuple, Opcode::kTuple)) return false;
  return r.Replace(id, r.operand(tuple, static_cast<size_t>(r[id].index())));
}

// tuple(get-tuple-element(t, 0), …, get-tuple-element(t, n-1)) → t: all of t
bool SimplifyTuple(Rewriter& r, InstructionId id) {
  const InstructionIds& operands = r[id].operands();
  InstructionId source = kNoInstruction;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Instruction& element = r[operands[i]];
    if (element.opcode() != Opcode::kGetTupleElement ||
        element.index() != static_cast<int32_t>(i) ||
        (i > 0 && element.operand(0) != source)) {
      return false;
    }
    source = element.operand(0);
  }
  return source != kNoInstruction &&
         r.shape(source).tuple_elements().size() == operands.size() &&
         r.Replace(id, source);
}

// sort(x, …) → x, or their tuple: one element or none to sort
bool SimplifySort(Rewriter& r, InstructionId id) {
  const InstructionIds operands = r[id].operands();
  const int64_t dimension = r[id].dimensions()[0];
  if (r.shape(operands[0]).dimension(dimension) > 1) return false;
  if (operands.size() == 1) return r.Replace(id, operands[0]);
  return r.ReplaceWith(
      id, Instruction(Opcode::kTuple, r[id].shape_ptr(), operands));
}

}  // namespace hone::hlo::algsimp
