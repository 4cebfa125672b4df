// gather_simplifier: leaves only gathers that look up whole windows by a list
// of index vectors.
//
//   g = f32[2,5,8] gather(f32[9,8] table, s32[2,5] rows),
//       offset_dims={2}, collapsed_slice_dims={0}, index_vector_dim=2
//   →
//   g' = f32[10,1,8] gather(table, s32[10,1] reshape(rows)),
//       offset_dims={1,2}, collapsed_slice_dims={}, index_vector_dim=1
//   g  = f32[2,5,8] reshape(g')
//
// Stronger than upstream's: index vectors that are such a list already get no
// reshape.
//
// A gather from a scalar is a broadcast of it, one of empty windows a zero.
// Legal always, except with batching dimensions, which
// batched_gather_scatter_normalizer removes first; index vectors keep their
// order, of which indices_are_sorted speaks. Numeric class: exact. For code
// generators that know this form only: adds reshapes, some of which algsimp
// folds into the gather again.

#include <memory>
#include <utility>

#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/rewrite/dimensions.h"
#include "hlo/rewrite/index_vectors.h"
#include "hlo/rewrite/makers.h"

namespace hone::hlo {
namespace {

bool IsSimplified(const GatherDimensions& dimensions, int64_t indices_rank) {
  return indices_rank == 2 && dimensions.index_vector_dim == 1 &&
         dimensions.collapsed_slice_dims.empty() &&
         !dimensions.offset_dims.empty() &&
         dimensions.offset_dims.front() == 1 &&
         dimensions.offset_dims.back() ==
             static_cast<int64_t>(dimensions.offset_dims.size());
}

// From dimensions in the order (of indices, of the window) to those of the
// gather's result.
DimensionVector ResultPermutation(const DimensionVector& offset_dims,
                                  int64_t rank) {
  int64_t window = rank - static_cast<int64_t>(offset_dims.size());
  int64_t index = 0;
  DimensionVector permutation;
  for (int64_t d = 0; d < rank; ++d) {
    permutation.push_back(Contains(offset_dims, d) ? window++ : index++);
  }
  return permutation;
}

bool SimplifyGather(Rewriter& r, InstructionId id) {
  if (r[id].attributes().gather == nullptr) return false;
  const GatherDimensions& old = *r[id].attributes().gather;
  const InstructionId operand = r.operand(id, 0);
  const InstructionId indices = r.operand(id, 1);
  if (!old.operand_batching_dims.empty() ||
      IsSimplified(old, r.shape(indices).rank())) {
    return false;
  }
  if (Contains(old.slice_sizes, 0)) {
    const ElementType type = r.shape(id).element_type();
    return r.Replace(
        id, MakeUniform(r, Literal::Scalar(type, 0), r.dimensions_of(id)));
  }
  if (r.shape(operand).rank() == 0) {
    if (r.shape(id).rank() == 0) return r.Replace(id, operand);
    return r.Replace(id, MakeBroadcast(r, operand, r.dimensions_of(id), {}));
  }
  GatherDimensions simplified;
  for (int64_t d = 0; d < r.shape(operand).rank(); ++d) {
    simplified.offset_dims.push_back(d + 1);
  }
  simplified.start_index_map = old.start_index_map;
  simplified.slice_sizes = old.slice_sizes;
  simplified.index_vector_dim = 1;
  Attributes attributes = r[id].attributes();
  attributes.gather =
      std::make_shared<const GatherDimensions>(std::move(simplified));
  const InstructionId matrix = AddIndexMatrix(r, indices, old.index_vector_dim);
  const InstructionId simple =
      MakeLike(r, id, {operand, matrix}, std::move(attributes));

  DimensionVector split =
      WithoutDimensions(r.dimensions_of(indices), {old.index_vector_dim});
  const DimensionVector window =
      WithoutDimensions(old.slice_sizes, old.collapsed_slice_dims);
  split.insert(split.end(), window.begin(), window.end());
  const DimensionVector permutation =
      ResultPermutation(old.offset_dims, static_cast<int64_t>(split.size()));
  return r.Replace(
      id, MakeTranspose(r, MakeReshape(r, simple, split), permutation));
}

}  // namespace

std::unique_ptr<Pass> MakeGatherSimplifier() {
  return MakeRulePass(
      {.name = "gather_simplifier", .opcodes = {Opcode::kGather}},
      SimplifyGather);
}

}  // namespace hone::hlo
