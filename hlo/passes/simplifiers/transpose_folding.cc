// transpose-folding: lets dots read matrices by column.
//
//   dot(transpose(a), b)  →  dot(a, b) with other dimension numbers, likewise b
//
// where the operand has one contracting and one free dimension beside the batch
// dimensions, and the transpose swaps just these two. Legal always, as one free
// dimension has no order to keep. A transpose with other users stays for them.
// Numeric class: reassociates, as the order in which a kernel adds depends on
// how the operands lie. As upstream on the CPU, whose kernels can do no more:
// dot-transpose-folding and convolution-transpose-folding fold the rest.

#include <algorithm>
#include <memory>

#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/passes/simplifiers/fold_transposes.h"

namespace hone::hlo {
namespace {

bool SwapsRowsAndColumns(const DimensionVector& permutation,
                         const DimensionVector& batch,
                         const DimensionVector& contracting) {
  return batch.size() + 2 == permutation.size() && contracting.size() == 1 &&
         std::all_of(batch.begin(), batch.end(), [&](int64_t d) {
           return permutation[static_cast<size_t>(d)] == d;
         });
}

bool Fold(Rewriter& r, InstructionId id) {
  // Vectors have no columns; upstream leaves their dots alone altogether.
  for (InstructionId operand : r[id].operands()) {
    if (r.shape(operand).rank() < 2) return false;
  }
  return FoldTransposesIntoDot(r, id, SwapsRowsAndColumns);
}

}  // namespace

std::unique_ptr<Pass> MakeTransposeFolding() {
  return MakeRulePass({.name = "transpose-folding",
                       .numeric_class = NumericClass::kReassociates,
                       .opcodes = {Opcode::kDot}},
                      Fold);
}

}  // namespace hone::hlo
