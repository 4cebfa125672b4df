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
// hold the size of a batch dimension, the indices are widened. Passes and code
// generators then need not know batching dimensions. It adds an instruction or
// more each: not for the operation count.

#include <algorithm>
#include <memory>
#include <utility>

#include "hlo/passes/registry.h"
#include "hlo/rewrite/index_vectors.h"
#include "hlo/rewrite/rewrite_each.h"

namespace hone::hlo {
namespace {

// The indices with the position along each of `batching` in front of every
// index vector.
InstructionId AddBatchIndices(Rewriter& r, InstructionId indices,
                              const DimensionVector& batching,
                              int64_t index_vector_dim) {
  ElementType type = r.shape(indices).element_type();
  for (int64_t d : batching) {
    const int64_t size = r.shape(indices).dimension(d);
    if (IndexTypeHolds(type, size)) continue;
    type = IndexTypeHolds(ElementType::kS32, size) ? ElementType::kS32
                                                   : ElementType::kS64;
  }
  if (type != r.shape(indices).element_type()) {
    indices = r.Add(Instruction(
        Opcode::kConvert, WithElementType(r.shape(indices), type), {indices}));
  }
  DimensionVector dimensions = r.dimensions_of(indices);
  const size_t vector_dim = static_cast<size_t>(index_vector_dim);
  if (vector_dim == dimensions.size()) {
    dimensions.push_back(1);
    indices = MakeReshape(r, indices, dimensions);
  }
  const int64_t vector_size = dimensions[vector_dim];
  dimensions[vector_dim] = 1;
  InstructionIds parts;
  for (int64_t d : batching) {
    parts.push_back(
        r.Add(Instruction(Opcode::kIota, Shape::Array(type, dimensions), {},
                          DimensionAttributes({d}))));
  }
  parts.push_back(indices);
  dimensions[vector_dim] = static_cast<int64_t>(batching.size()) + vector_size;
  return r.Add(Instruction(Opcode::kConcatenate, Shape::Array(type, dimensions),
                           parts, DimensionAttributes({index_vector_dim})));
}

// Both lists together, `front` first.
DimensionVector Joined(DimensionVector front, const DimensionVector& back) {
  front.insert(front.end(), back.begin(), back.end());
  return front;
}
DimensionVector Sorted(DimensionVector dimensions) {
  std::sort(dimensions.begin(), dimensions.end());
  return dimensions;
}

bool Replace(Rewriter& r, InstructionId id, const InstructionIds& operands,
             Attributes attributes, const DimensionVector& index_map) {
  // A batch may come behind what the indices were sorted by.
  attributes.indices_are_sorted &=
      std::is_sorted(index_map.begin(), index_map.end());
  Instruction replacement = r[id].WithOperands(operands);
  replacement.set_attributes(
      std::make_shared<const Attributes>(std::move(attributes)));
  return r.ReplaceWith(id, std::move(replacement));
}

bool NormalizeGather(Rewriter& r, InstructionId id) {
  InstructionIds operands = r[id].operands();
  Attributes attributes = r[id].attributes();
  GatherDimensions d = *attributes.gather;
  operands[1] = AddBatchIndices(r, operands[1], d.start_indices_batching_dims,
                                d.index_vector_dim);
  d.start_index_map = Joined(d.operand_batching_dims, d.start_index_map);
  d.collapsed_slice_dims =
      Sorted(Joined(d.collapsed_slice_dims, d.operand_batching_dims));
  d.operand_batching_dims.clear();
  d.start_indices_batching_dims.clear();
  const DimensionVector index_map = d.start_index_map;
  attributes.gather = std::make_shared<GatherDimensions>(std::move(d));
  return Replace(r, id, operands, std::move(attributes), index_map);
}

bool NormalizeScatter(Rewriter& r, InstructionId id) {
  InstructionIds operands = r[id].operands();
  Attributes attributes = r[id].attributes();
  ScatterDimensions d = *attributes.scatter;
  InstructionId& indices = operands[operands.size() / 2];
  indices = AddBatchIndices(r, indices, d.scatter_indices_batching_dims,
                            d.index_vector_dim);
  d.scatter_dims_to_operand_dims =
      Joined(d.input_batching_dims, d.scatter_dims_to_operand_dims);
  d.inserted_window_dims =
      Sorted(Joined(d.inserted_window_dims, d.input_batching_dims));
  d.input_batching_dims.clear();
  d.scatter_indices_batching_dims.clear();
  const DimensionVector index_map = d.scatter_dims_to_operand_dims;
  attributes.scatter = std::make_shared<ScatterDimensions>(std::move(d));
  return Replace(r, id, operands, std::move(attributes), index_map);
}

bool HasBatchingDimensions(const Instruction& instruction) {
  const Attributes& attributes = instruction.attributes();
  if (instruction.opcode() == Opcode::kGather) {
    return attributes.gather != nullptr &&
           !attributes.gather->operand_batching_dims.empty();
  }
  return instruction.opcode() == Opcode::kScatter &&
         attributes.scatter != nullptr &&
         !attributes.scatter->input_batching_dims.empty();
}

class BatchedGatherScatterNormalizer final : public Pass {
 public:
  absl::string_view name() const override {
    return "batched_gather_scatter_normalizer";
  }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    return RewriteEach(
        module, HasBatchingDimensions, [](Rewriter& r, InstructionId id) {
          return r.Is(id, Opcode::kGather) ? NormalizeGather(r, id)
                                           : NormalizeScatter(r, id);
        });
  }
};

}  // namespace

std::unique_ptr<Pass> MakeBatchedGatherScatterNormalizer() {
  return std::make_unique<BatchedGatherScatterNormalizer>();
}

}  // namespace hone::hlo
