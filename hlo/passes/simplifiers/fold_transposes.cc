#include "hlo/passes/simplifiers/fold_transposes.h"

#include <memory>
#include <utility>

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
  if (!folded) return false;
  auto attributes = std::make_shared<Attributes>(r[id].attributes());
  attributes->dot = std::make_shared<DotDimensions>(std::move(dot));
  return r.ReplaceWith(id, Instruction(Opcode::kDot, r[id].shape_ptr(),
                                       operands, std::move(attributes)));
}

}  // namespace hone::hlo
