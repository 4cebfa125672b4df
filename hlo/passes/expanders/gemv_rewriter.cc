// gemv-rewriter: makes products of a matrix and a vector products of matrices.
//
//   d = f32[5] dot(f32[5,4] a, f32[4] b)
//   →
//   d = f32[5] reshape(f32[5,1] dot(a, f32[4,1] reshape(b)))
//
// Likewise when the left operand is the vector, and with batch dimensions.
// Legal always, and exact: a dimension of size 1 changes no order. For code
// generators that know matrix products only: it adds reshapes. Dots with more
// than one dimension left over are dot_decomposer's matter, and so is the order
// of dimensions.

#include <memory>

#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/rewrite/makers.h"

namespace hone::hlo {
namespace {

bool RewriteGemv(Rewriter& r, InstructionId id) {
  const Instruction& dot = r[id];
  if (dot.operand_count() != 2 || dot.attributes().dot == nullptr) return false;
  const DotDimensions& d = *dot.attributes().dot;
  const int64_t used =
      static_cast<int64_t>(d.lhs_batch.size() + d.lhs_contracting.size());
  const int64_t lhs_free = r.shape(dot.operand(0)).rank() - used;
  const int64_t rhs_free = r.shape(dot.operand(1)).rank() - used;
  if (lhs_free + rhs_free != 1) return false;

  InstructionIds operands = dot.operands();
  InstructionId& vector = operands[lhs_free == 0 ? 0 : 1];
  DimensionVector column = r.dimensions_of(vector);
  column.push_back(1);
  vector = MakeReshape(r, vector, column);
  const InstructionId product = MakeLike(r, id, operands);
  return r.Replace(id, MakeReshape(r, product, r.dimensions_of(id)));
}

}  // namespace

std::unique_ptr<Pass> MakeGemvRewriter() {
  return MakeRulePass({.name = "gemv-rewriter", .opcodes = {Opcode::kDot}},
                      RewriteGemv);
}

}  // namespace hone::hlo
