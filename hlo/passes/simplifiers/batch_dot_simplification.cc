// batch-dot-simplification: drops batch dimensions of size 1 from dots.
//
//   d = f32[1,2,5,3] dot(f32[1,2,5,4] a, f32[1,2,4,3] b), batch {0,1}
//   →
//   e = f32[2,5,3] dot(f32[2,5,4] reshape(a), f32[2,4,3] reshape(b)), batch {0}
//   d = f32[1,2,5,3] reshape(e)
//
// Legal always; for dots whose batch dimensions lead in both operands and that
// contract one dimension. Numeric class: exact, as a dimension of size 1
// changes no order. Adds reshapes, which other passes may fold: fewer
// dimensions make kernels simpler, not the operation count smaller.

#include <memory>
#include <utility>

#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/rewrite/dimensions.h"
#include "hlo/rewrite/makers.h"

namespace hone::hlo {
namespace {

bool SimplifyBatchDot(Rewriter& r, InstructionId id) {
  if (r[id].operand_count() != 2 || r[id].attributes().dot == nullptr) {
    return false;
  }
  DotDimensions d = *r[id].attributes().dot;
  if (d.lhs_contracting.size() != 1 || d.lhs_batch != d.rhs_batch ||
      !IsIdentityPermutation(d.lhs_batch)) {
    return false;
  }
  DimensionVector dropped;
  for (int64_t b : d.lhs_batch) {
    if (r.shape(r.operand(id, 0)).dimension(b) == 1) dropped.push_back(b);
  }
  if (dropped.empty()) return false;

  const int64_t count = static_cast<int64_t>(dropped.size());
  d.lhs_batch = d.rhs_batch =
      IdentityPermutation(static_cast<int64_t>(d.lhs_batch.size()) - count);
  d.lhs_contracting[0] -= count;
  d.rhs_contracting[0] -= count;
  InstructionIds operands = r[id].operands();
  for (InstructionId& operand : operands) {
    operand = MakeReshape(r, operand,
                          WithoutDimensions(r.dimensions_of(operand), dropped));
  }
  Attributes attributes = r[id].attributes();
  attributes.dot = std::make_shared<const DotDimensions>(std::move(d));
  const InstructionId smaller =
      MakeLike(r, id, operands, std::move(attributes));
  return r.Replace(id, MakeReshape(r, smaller, r.dimensions_of(id)));
}

}  // namespace

std::unique_ptr<Pass> MakeBatchDotSimplification() {
  return MakeRulePass(
      {.name = "batch-dot-simplification", .opcodes = {Opcode::kDot}},
      SimplifyBatchDot);
}

}  // namespace hone::hlo
