#include "hlo/passes/simplifiers/fold_transposes.h"

#include "hlo/rewrite/makers.h"

namespace hone::hlo {

void MapThrough(const DimensionVector& permutation, int64_t& dimension) {
  dimension = permutation[static_cast<size_t>(dimension)];
}

void MapThrough(const DimensionVector& permutation,
                DimensionVector& dimensions) {
  for (int64_t& d : dimensions) MapThrough(permutation, d);
}

bool FoldTransposesIntoDot(Rewriter& r, InstructionId id,
                           MayFoldTranspose may_fold) {
  if (r[id].operand_count() != 2 || r[id].attributes().dot == nullptr) {
    return false;
  }
  InstructionIds operands = r[id].operands();
  DotDimensions dot = *r[id].attributes().dot;
  bool folded = false;
  for (size_t i = 0; i < 2; ++i) {
    if (!r.Is(operands[i], Opcode::kTranspose)) continue;
    const DimensionVector& permutation = r[operands[i]].dimensions();
    DimensionVector& batch = i == 0 ? dot.lhs_batch : dot.rhs_batch;
    DimensionVector& contracting =
        i == 0 ? dot.lhs_contracting : dot.rhs_contracting;
    if (!may_fold(permutation, batch, contracting)) continue;
    MapThrough(permutation, batch);
    MapThrough(permutation, contracting);
    operands[i] = r.operand(operands[i], 0);
    folded = true;
  }
  return folded && r.Replace(id, MakeDot(r, operands[0], operands[1], dot,
                                         r.shape(id).element_type(), id));
}

}  // namespace hone::hlo
