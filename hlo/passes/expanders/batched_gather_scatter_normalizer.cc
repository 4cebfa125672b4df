// batched_gather_scatter_normalizer: makes batching dimensions of gathers and
// scatters part of the index.
//
//   g = f32[2,5] gather(f32[2,9] table, s32[2,5,1] columns),
//       operand_batching_dims={0}, start_indices_batching_dims={0},
//       collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=2
//   →
//   i = s32[2,5,2] concatenate(s32[2,5,1] iota(), columns), dimensions={2}
//   g = f32[2,5] gather(table, i), collapsed_slice_dims={0,1},
//       start_index_map={0,1}, index_vector_dim=2
//
// Legal always: the added indices are in bounds; where their type could not
// hold the size of a batch dimension, the indices are widened. Exact. Passes
// and code generators then need not know batching dimensions. It adds an
// instruction or more each: not for the operation count.

#include <algorithm>
#include <memory>
#include <utility>

#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/rewrite/dimensions.h"
#include "hlo/rewrite/index_vectors.h"
#include "hlo/rewrite/makers.h"

namespace hone::hlo {
namespace {

// The dimension numbers that gathers and scatters have in common.
struct Dimensions {
  DimensionVector& operand_batching;
  DimensionVector& indices_batching;
  DimensionVector& index_map;
  DimensionVector& dropped;  // collapsed or inserted
  int64_t index_vector_dim;
};

// The indices with the position along each batching dimension in front of every
// index vector.
InstructionId MakeFullIndices(Rewriter& r, InstructionId indices,
                              const Dimensions& d) {
  ElementType type = r.shape(indices).element_type();
  for (int64_t batch : d.indices_batching) {
    const int64_t size = r.shape(indices).dimension(batch);
    if (IndexTypeHolds(type, size)) continue;
    type = IndexTypeHolds(ElementType::kS32, size) ? ElementType::kS32
                                                   : ElementType::kS64;
  }
  indices = MakeConvert(r, indices, type);
  DimensionVector sizes = r.dimensions_of(indices);
  const size_t vector_dim = static_cast<size_t>(d.index_vector_dim);
  if (vector_dim == sizes.size()) {
    sizes.push_back(1);
    indices = MakeReshape(r, indices, sizes);
  }
  sizes[vector_dim] = 1;
  InstructionIds parts;
  for (int64_t batch : d.indices_batching) {
    parts.push_back(MakeIota(r, type, sizes, batch));
  }
  parts.push_back(indices);
  return MakeConcatenate(r, parts, d.index_vector_dim);
}

void Prepend(DimensionVector& list, const DimensionVector& front) {
  list.insert(list.begin(), front.begin(), front.end());
}

// Replaces `id` by itself without batching dimensions; `d` are dimension
// numbers of `attributes`, and operand `index` is the indices.
bool Normalize(Rewriter& r, InstructionId id, size_t index, Dimensions d,
               std::shared_ptr<Attributes> attributes) {
  InstructionIds operands = r[id].operands();
  operands[index] = MakeFullIndices(r, operands[index], d);
  Prepend(d.index_map, d.operand_batching);
  Prepend(d.dropped, d.operand_batching);
  std::sort(d.dropped.begin(), d.dropped.end());
  // The batch goes up along with the order of the indices only if it leads.
  attributes->indices_are_sorted &=
      std::is_sorted(d.index_map.begin(), d.index_map.end()) &&
      IsIdentityPermutation(d.indices_batching);
  d.operand_batching.clear();
  d.indices_batching.clear();
  Instruction replacement = r[id].WithOperands(operands);
  replacement.set_attributes(std::move(attributes));
  return r.ReplaceWith(id, std::move(replacement));
}

bool NormalizeGather(Rewriter& r, InstructionId id) {
  const GatherDimensions* old = r[id].attributes().gather.get();
  if (old == nullptr || old->operand_batching_dims.empty()) return false;
  auto d = std::make_shared<GatherDimensions>(*old);
  auto attributes = std::make_shared<Attributes>(r[id].attributes());
  attributes->gather = d;
  return Normalize(
      r, id, 1,
      {d->operand_batching_dims, d->start_indices_batching_dims,
       d->start_index_map, d->collapsed_slice_dims, d->index_vector_dim},
      std::move(attributes));
}

bool NormalizeScatter(Rewriter& r, InstructionId id) {
  const ScatterDimensions* old = r[id].attributes().scatter.get();
  if (old == nullptr || old->input_batching_dims.empty()) return false;
  auto d = std::make_shared<ScatterDimensions>(*old);
  auto attributes = std::make_shared<Attributes>(r[id].attributes());
  attributes->scatter = d;
  return Normalize(r, id, r[id].operand_count() / 2,
                   {d->input_batching_dims, d->scatter_indices_batching_dims,
                    d->scatter_dims_to_operand_dims, d->inserted_window_dims,
                    d->index_vector_dim},
                   std::move(attributes));
}

bool NormalizeEither(Rewriter& r, InstructionId id) {
  return r.Is(id, Opcode::kGather) ? NormalizeGather(r, id)
                                   : NormalizeScatter(r, id);
}

}  // namespace

std::unique_ptr<Pass> MakeBatchedGatherScatterNormalizer() {
  return MakeRulePass({.name = "batched_gather_scatter_normalizer",
                       .opcodes = {Opcode::kGather, Opcode::kScatter}},
                      NormalizeEither);
}

}  // namespace hone::hlo
