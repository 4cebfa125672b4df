// gather_expander: makes gathers of one window, or of the whole operand, plain
// slices and broadcasts.
//
//   g = f32[1,4] gather(f32[9,8] a, s32[1,2] at), offset_dims={1},
//       collapsed_slice_dims={0}, start_index_map={0,1}, slice_sizes={1,4}
//   →
//   g = f32[1,4] dynamic-slice(a, at[0], at[1]), dynamic_slice_sizes={1,4}
//
//   gather(a, at), slice_sizes the dimensions of a
//   →
//   broadcast(a)
//
// Legal always, and exact: both clamp what is out of bounds, and windows of the
// operand's size have one place only. Other gathers, which upstream can expand
// into loops, stay, and so do those of empty windows.

#include <memory>

#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/rewrite/dimensions.h"
#include "hlo/rewrite/index_vectors.h"
#include "hlo/rewrite/makers.h"

namespace hone::hlo {
namespace {

// A copy of the operand for each index vector.
InstructionId MakeWindows(Rewriter& r, InstructionId operand,
                          const GatherDimensions& gather,
                          const DimensionVector& result) {
  DimensionVector dropped = gather.collapsed_slice_dims;
  dropped.insert(dropped.end(), gather.operand_batching_dims.begin(),
                 gather.operand_batching_dims.end());
  const InstructionId window = MakeReshape(
      r, operand, WithoutDimensions(r.dimensions_of(operand), dropped));
  return MakeBroadcast(r, window, result, gather.offset_dims);
}

bool ExpandGather(Rewriter& r, InstructionId id) {
  const Instruction& gather = r[id];
  if (gather.attributes().gather == nullptr ||
      gather.shape().num_elements() == 0) {
    return false;
  }
  const GatherDimensions& d = *gather.attributes().gather;
  // A collapsed dimension of size 0 leaves elements that no window has.
  if (Contains(d.slice_sizes, 0)) return false;
  const InstructionId operand = gather.operand(0);
  const InstructionId indices = gather.operand(1);
  const DimensionVector& result = gather.shape().dimensions();
  const bool one_window =
      IndexVectorCount(r.shape(indices), d.index_vector_dim) == 1;
  if (d.slice_sizes == r.dimensions_of(operand)) {
    return r.Replace(id, one_window ? MakeReshape(r, operand, result)
                                    : MakeWindows(r, operand, d, result));
  }
  if (!one_window) return false;

  const InstructionIds starts =
      AddStartIndices(r, indices, d.start_index_map, r.shape(operand).rank());
  const InstructionId slice =
      MakeDynamicSlice(r, operand, starts, d.slice_sizes);
  return r.Replace(id, MakeReshape(r, slice, result));
}

}  // namespace

std::unique_ptr<Pass> MakeGatherExpander() {
  return MakeRulePass({.name = "gather_expander", .opcodes = {Opcode::kGather}},
                      ExpandGather);
}

}  // namespace hone::hlo
