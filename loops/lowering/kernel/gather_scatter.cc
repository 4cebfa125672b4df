#include <algorithm>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "hlo/rewrite/regions/reductions.h"
#include "loops/lowering/kernel/families.h"
#include "loops/lowering/kernel/scalar.h"

namespace hone::loops {
namespace {

using hlo::DimensionVector;
using hlo::ElementType;
using hlo::Opcode;

bool Contains(const DimensionVector& dimensions, int64_t d) {
  return std::find(dimensions.begin(), dimensions.end(), d) != dimensions.end();
}

// Returns component `component` of the index vector at `batch`, which has an
// index for each dimension of the indices except that of the vectors.
absl::StatusOr<ExpressionPtr> ReadComponent(KernelWriter& writer, Nest& nest,
                                            ValueId indices,
                                            int64_t index_vector_dim,
                                            const Indices& batch,
                                            int64_t component) {
  Indices at = batch;
  if (index_vector_dim < writer.graph()[indices].shape->rank()) {
    Index number;
    number.affine += component;
    at.insert(at.begin() + index_vector_dim, number);
  }
  return writer.Read(nest, indices, at);
}

// Returns the index in `batch` that operand dimension `d` follows.
const Index* BatchIndex(const DimensionVector& operand_batching,
                        const DimensionVector& indices_batching,
                        int64_t index_vector_dim, const Indices& batch,
                        int64_t d) {
  for (size_t i = 0; i < operand_batching.size(); ++i) {
    if (operand_batching[i] != d) continue;
    const int64_t from = indices_batching[i];
    return &batch[static_cast<size_t>(from - (from > index_vector_dim))];
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<ExpressionPtr> ReadGather(KernelWriter& writer, Nest& nest,
                                         ValueId value,
                                         const Indices& indices) {
  const ValueGraph& graph = writer.graph();
  const hlo::GatherDimensions& gather =
      *graph.instruction(value).attributes().gather;
  const ValueId operand = graph.operand(value, 0);
  const ValueId starts = graph.operand(value, 1);
  Indices batch;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (!Contains(gather.offset_dims, static_cast<int64_t>(i))) {
      batch.push_back(indices[i]);
    }
  }
  Indices at(graph.dimensions(operand).size());
  size_t next_offset = 0;
  for (size_t d = 0; d < at.size(); ++d) {
    const int64_t dimension = static_cast<int64_t>(d);
    if (const Index* follows = BatchIndex(
            gather.operand_batching_dims, gather.start_indices_batching_dims,
            gather.index_vector_dim, batch, dimension)) {
      at[d] = *follows;
    } else if (!Contains(gather.collapsed_slice_dims, dimension)) {
      at[d] = indices[static_cast<size_t>(gather.offset_dims[next_offset++])];
    }
  }
  for (size_t c = 0; c < gather.start_index_map.size(); ++c) {
    const size_t d = static_cast<size_t>(gather.start_index_map[c]);
    const int64_t greatest =
        graph.dimensions(operand)[d] - gather.slice_sizes[d];
    if (greatest == 0) continue;
    HONE_ASSIGN_OR_RETURN(
        ExpressionPtr start,
        ReadComponent(writer, nest, starts, gather.index_vector_dim, batch,
                      static_cast<int64_t>(c)));
    Index shift;
    shift.offset = ClampedStart(std::move(start), greatest);
    at[d] = Sum(at[d], shift);
  }
  return writer.Read(nest, operand, at);
}

namespace {

// The target of an element of the updates, and the condition under which it is
// written; null: always.
struct Place {
  Indices at;
  ExpressionPtr predicate;
};

absl::StatusOr<Place> PlaceOfUpdate(KernelWriter& writer, Nest& nest,
                                    const hlo::Instruction& instruction,
                                    ValueId operand, ValueId starts,
                                    const Indices& update,
                                    const DimensionVector& update_sizes) {
  const hlo::ScatterDimensions& scatter = *instruction.attributes().scatter;
  const DimensionVector& sizes = writer.graph().dimensions(operand);
  Indices batch;
  for (size_t i = 0; i < update.size(); ++i) {
    if (!Contains(scatter.update_window_dims, static_cast<int64_t>(i))) {
      batch.push_back(update[i]);
    }
  }
  Place place;
  place.at.resize(sizes.size());
  DimensionVector window(sizes.size(), 1);
  size_t next_window = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int64_t dimension = static_cast<int64_t>(d);
    if (const Index* follows = BatchIndex(
            scatter.input_batching_dims, scatter.scatter_indices_batching_dims,
            scatter.index_vector_dim, batch, dimension)) {
      place.at[d] = *follows;
    } else if (!Contains(scatter.inserted_window_dims, dimension)) {
      const size_t from =
          static_cast<size_t>(scatter.update_window_dims[next_window++]);
      place.at[d] = update[from];
      window[d] = update_sizes[from];
    }
  }
  const auto both = [](ExpressionPtr a, ExpressionPtr b) {
    if (a == nullptr) return b;
    return Expression::Apply(Opcode::kAnd, ElementType::kPred,
                             {std::move(a), std::move(b)});
  };
  const auto& map = scatter.scatter_dims_to_operand_dims;
  for (size_t c = 0; c < map.size(); ++c) {
    const size_t d = static_cast<size_t>(map[c]);
    HONE_ASSIGN_OR_RETURN(
        ExpressionPtr component,
        ReadComponent(writer, nest, starts, scatter.index_vector_dim, batch,
                      static_cast<int64_t>(c)));
    const ExpressionPtr start =
        Converted(ElementType::kS64, std::move(component));
    place.predicate = both(
        std::move(place.predicate),
        Expression::Compare(hlo::ComparisonDirection::kGe, false, start,
                            Expression::ConstantInt(ElementType::kS64, 0)));
    place.predicate = both(
        std::move(place.predicate),
        Expression::Compare(
            hlo::ComparisonDirection::kLe, false, start,
            Expression::ConstantInt(ElementType::kS64, sizes[d] - window[d])));
    Index shift;
    shift.offset = start;
    place.at[d] = Sum(place.at[d], shift);
  }
  return place;
}

// Returns true if the region returns its second parameter: later updates win.
bool Overwrites(const hlo::Computation& region) {
  const hlo::Instruction& root = region[region.root()];
  return root.opcode() == Opcode::kParameter && root.index() == 1 &&
         region.parameters().size() == 2;
}

}  // namespace

// Copies the operands that are not updated in place, then applies every update,
// index vectors outermost.
absl::Status WriteScatter(KernelWriter& writer, Nest& nest,
                          hlo::InstructionId id) {
  const ValueGraph& graph = writer.graph();
  const hlo::Instruction& instruction = graph.computation()[id];
  const absl::Span<const ValueId> results = graph.leaves(id);
  const std::vector<ValueId>& operands = graph.operands(id);
  const size_t count = results.size();
  for (size_t i = 0; i < count; ++i) {
    if (writer.UpdatesInPlace(results[i])) continue;
    const Indices at = nest.AddLoops(graph.dimensions(results[i]));
    HONE_ASSIGN_OR_RETURN(ExpressionPtr old,
                          writer.Read(nest, operands[i], at));
    nest.Store(writer.Target(nest, results[i], at), std::move(old));
    nest.CloseTo(0);
  }
  const DimensionVector& sizes = graph.dimensions(operands[count + 1]);
  const auto& window_dims =
      instruction.attributes().scatter->update_window_dims;
  Indices update(sizes.size());
  for (const bool is_window : {false, true}) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (Contains(window_dims, static_cast<int64_t>(i)) == is_window) {
        update[i] = nest.AddLoop(sizes[i]);
      }
    }
  }
  HONE_ASSIGN_OR_RETURN(Place place,
                        PlaceOfUpdate(writer, nest, instruction, operands[0],
                                      operands[count], update, sizes));
  std::vector<ExpressionPtr> arguments;
  std::vector<Access> targets;
  for (ValueId result : results) {
    targets.push_back(writer.Target(nest, result, place.at));
    arguments.push_back(writer.Load(targets.back()));
  }
  for (size_t i = 0; i < count; ++i) {
    HONE_ASSIGN_OR_RETURN(ExpressionPtr element,
                          writer.Read(nest, operands[count + 1 + i], update));
    arguments.push_back(std::move(element));
  }
  const hlo::Computation& region =
      graph.module().computation(instruction.called()[0]);
  if (count == 1 &&
      (Overwrites(region) || hlo::ReductionOpcode(region).has_value())) {
    nest.Store(targets[0], arguments[1], hlo::ReductionOpcode(region),
               place.predicate);
  } else {
    HONE_ASSIGN_OR_RETURN(
        std::vector<ExpressionPtr> values,
        ApplyRegion(graph.module(), instruction.called()[0], arguments));
    StoreTogether(writer, nest, targets, std::move(values), place.predicate);
  }
  nest.CloseTo(0);
  return absl::OkStatus();
}

}  // namespace hone::loops
