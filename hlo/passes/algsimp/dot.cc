// Dots.
//
//   dot(x, y) → broadcast(0)                 nothing to sum; exact
//   transpose(dot(a, b)) → dot(b, a)         floats: reassociates, as the order
//     of a sum depends on how its operands lie. The permutation keeps the batch
//     dimensions in front and swaps the block of a's free dimensions with b's;
//     the dot has no other user, and neither annotations nor a precision of
//     each operand.
//
// and HoistNegation.

#include "hlo/passes/algsimp/rules.h"

namespace hone::hlo::algsimp {

bool SimplifyDot(Rewriter& r, InstructionId id) {
  const Shape& shape = r.shape(id);
  if (shape.num_elements() > 0 &&
      r.shape(r.operand(id, 0)).num_elements() == 0) {
    return r.Replace(id,
                     MakeUniform(r, Literal::ScalarInt(shape.element_type(), 0),
                                 shape.dimensions()));
  }
  return HoistNegation(r, id);
}

bool TransposeOfDot(Rewriter& r, InstructionId id) {
  const InstructionId dot = r.operand(id, 0);
  if (!MayAbsorb(r, dot, id) || !MayRound(r, id)) return false;
  const InstructionId a = r.operand(dot, 0);
  const InstructionId b = r.operand(dot, 1);
  const DotDimensions& d = *r[dot].attributes().dot;
  const int64_t rank = r.shape(dot).rank();
  const int64_t batch = static_cast<int64_t>(d.lhs_batch.size());
  const int64_t split =
      r.shape(a).rank() - static_cast<int64_t>(d.lhs_contracting.size());
  // [batch, free of a, free of b], split between the latter.
  DimensionVector swapped = IdentityPermutation(batch);
  for (int64_t i = split; i < rank; ++i) swapped.push_back(i);
  for (int64_t i = batch; i < split; ++i) swapped.push_back(i);
  if (swapped != r[id].dimensions()) return false;
  return r.Replace(id, MakeDot(r, b, a,
                               {.lhs_contracting = d.rhs_contracting,
                                .rhs_contracting = d.lhs_contracting,
                                .lhs_batch = d.rhs_batch,
                                .rhs_batch = d.lhs_batch},
                               r.shape(dot).element_type(), kNoInstruction));
}

}  // namespace hone::hlo::algsimp
