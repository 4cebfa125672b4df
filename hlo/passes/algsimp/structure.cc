// Tuples and sorts. All exact.
//
//   get-tuple-element(tuple(…, x, …)) → x
//   tuple(get-tuple-element(t, 0), …, get-tuple-element(t, n-1)) → t: all of t
//   sort(x, …) → x, or their tuple           at most one element to sort

#include "hlo/passes/algsimp/rules.h"

namespace hone::hlo::algsimp {

bool SimplifyGetTupleElement(Rewriter& r, InstructionId id) {
  const InstructionId tuple = r.operand(id, 0);
  return r.Is(tuple, Opcode::kTuple) &&
         r.Replace(id, r.operand(tuple, static_cast<size_t>(r[id].index())));
}

bool SimplifyTuple(Rewriter& r, InstructionId id) {
  const InstructionIds& operands = r[id].operands();
  if (operands.empty() || !r.Is(operands[0], Opcode::kGetTupleElement)) {
    return false;
  }
  const InstructionId source = r.operand(operands[0], 0);
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!r.Match(operands[i], m::GetTupleElement(m::Same(source))) ||
        r[operands[i]].index() != static_cast<int32_t>(i)) {
      return false;
    }
  }
  return Shape::Equal(r.shape(source), r.shape(id)) && r.Replace(id, source);
}

bool SimplifySort(Rewriter& r, InstructionId id) {
  const InstructionIds& operands = r[id].operands();
  const int64_t dimension = r[id].dimensions()[0];
  if (r.shape(operands[0]).dimension(dimension) > 1) return false;
  return r.Replace(id,
                   operands.size() == 1 ? operands[0] : MakeTuple(r, operands));
}

}  // namespace hone::hlo::algsimp
