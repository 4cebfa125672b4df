// convolution-transpose-folding: relabels dimensions instead of moving them.
//
//   convolution(transpose(x), transpose(k))  →  convolution(x, k)
//   transpose(convolution(x, k))             →  convolution(x, k)
//
// the first with other input and kernel labels, the second with other output
// labels, where nothing else uses the convolution and it has no sharding or
// frontend attributes, which speak of the order that it had. Legal always, as a
// convolution takes its dimensions in any order; window, groups and dilation
// follow the labels. A transposed operand with other users stays for them.
// Numeric class: reassociates, as the order in which a kernel adds depends on
// how the operands lie. Hone's own: upstream's transpose-folding declines
// convolutions on the CPU, whose kernels want canonical orders.

#include <memory>
#include <utility>

#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/passes/simplifiers/fold_transposes.h"
#include "hlo/rewrite/carried_attributes.h"
#include "hlo/rewrite/dimensions.h"
#include "hlo/rewrite/makers.h"

namespace hone::hlo {
namespace {

// A convolution of two operands whose labels may change.
bool IsFoldable(const Rewriter& r, InstructionId id) {
  return r.Is(id, Opcode::kConvolution) && r[id].operand_count() == 2 &&
         r[id].attributes().convolution != nullptr;
}

// Replaces `id` by `convolution` on these operands with these labels.
bool ReplaceByConvolution(Rewriter& r, InstructionId id,
                          InstructionId convolution,
                          const InstructionIds& operands,
                          ConvolutionDimensions labels) {
  Attributes attributes = r[convolution].attributes();
  attributes.convolution =
      std::make_shared<const ConvolutionDimensions>(std::move(labels));
  return r.Replace(id,
                   MakeLike(r, convolution, operands, std::move(attributes)));
}

bool FoldOperands(Rewriter& r, InstructionId id) {
  InstructionIds operands = r[id].operands();
  ConvolutionDimensions labels = *r[id].attributes().convolution;
  bool folded = false;
  if (r.Is(operands[0], Opcode::kTranspose)) {
    const DimensionVector& permutation = r[operands[0]].dimensions();
    MapThrough(permutation, labels.input_batch);
    MapThrough(permutation, labels.input_feature);
    MapThrough(permutation, labels.input_spatial);
    operands[0] = r.operand(operands[0], 0);
    folded = true;
  }
  if (r.Is(operands[1], Opcode::kTranspose)) {
    const DimensionVector& permutation = r[operands[1]].dimensions();
    MapThrough(permutation, labels.kernel_input_feature);
    MapThrough(permutation, labels.kernel_output_feature);
    MapThrough(permutation, labels.kernel_spatial);
    operands[1] = r.operand(operands[1], 0);
    folded = true;
  }
  return folded && ReplaceByConvolution(r, id, id, operands, std::move(labels));
}

bool FoldIntoResult(Rewriter& r, InstructionId id) {
  const InstructionId convolution = r.operand(id, 0);
  if (!IsFoldable(r, convolution) || !r.MayReplace(convolution) ||
      IsAnnotated(r[convolution]) || !r.DiesWith(convolution, id)) {
    return false;
  }
  const DimensionVector inverse = InversePermutation(r[id].dimensions());
  ConvolutionDimensions labels = *r[convolution].attributes().convolution;
  MapThrough(inverse, labels.output_batch);
  MapThrough(inverse, labels.output_feature);
  MapThrough(inverse, labels.output_spatial);
  return ReplaceByConvolution(r, id, convolution, r[convolution].operands(),
                              std::move(labels));
}

bool Fold(Rewriter& r, InstructionId id) {
  if (r.Is(id, Opcode::kTranspose)) return FoldIntoResult(r, id);
  return IsFoldable(r, id) && FoldOperands(r, id);
}

}  // namespace

std::unique_ptr<Pass> MakeConvolutionTransposeFolding() {
  return MakeRulePass({.name = "convolution-transpose-folding",
                       .numeric_class = NumericClass::kReassociates,
                       .opcodes = {Opcode::kConvolution, Opcode::kTranspose},
                       .visit = Visit::kFixedPoint},
                      Fold);
}

}  // namespace hone::hlo
