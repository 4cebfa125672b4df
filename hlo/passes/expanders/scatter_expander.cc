// scatter_expander: makes scatters of one window dynamic-update-slices.
//
//   s = f32[9] scatter(a, s32[1] at, f32[2] update), to_apply=add
//   →
//   old = f32[2] dynamic-slice(a, at)
//   in  = pred[2] broadcast(0 <= at && at <= 7)
//   s   = f32[9] dynamic-update-slice(a, select(in, old + update, old), at)
//
// The bounds are not checked along dimensions that the index leaves at zero. A
// scatter of empty updates, or into an empty operand, is its operand.
//
// Legal always, and exact: a scatter leaves out windows that are not in bounds,
// where the slices are clamped. It adds instructions, fewer when algsimp knows
// the index: for those it should come in front of simplifications. Upstream can
// expand every scatter into a loop; this leaves scatters of several windows,
// operands or regions that are more than one operation.

#include <algorithm>
#include <memory>
#include <optional>

#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/rewrite/dimensions.h"
#include "hlo/rewrite/index_vectors.h"
#include "hlo/rewrite/makers.h"
#include "hlo/rewrite/regions/reductions.h"

namespace hone::hlo {
namespace {

// The operation that the region applies to (value, update): one of the
// two-operand opcodes of ReductionOpcode, or kParameter for the update itself.
std::optional<Opcode> CombinerOpcode(const Computation& region) {
  if (region.parameters().size() == 2 &&
      region.root() == region.parameters()[1]) {
    return Opcode::kParameter;
  }
  return ReductionOpcode(region);
}

// The sizes of the window in all dimensions of the operand.
DimensionVector WindowSizes(const ScatterDimensions& d, const Shape& operand,
                            const Shape& updates) {
  DimensionVector sizes;
  size_t next = 0;
  for (int64_t i = 0; i < operand.rank(); ++i) {
    const bool dropped = Contains(d.inserted_window_dims, i) ||
                         Contains(d.input_batching_dims, i);
    sizes.push_back(dropped ? 1
                            : updates.dimension(d.update_window_dims[next++]));
  }
  return sizes;
}

// A scalar that says if the window is in bounds along every dimension that has
// an index; kNoInstruction if none has.
InstructionId MakeInBounds(Rewriter& r, const ScatterDimensions& d,
                           const InstructionIds& starts,
                           const DimensionVector& sizes,
                           const DimensionVector& bounds) {
  InstructionId result = kNoInstruction;
  for (int64_t dimension : d.scatter_dims_to_operand_dims) {
    const size_t i = static_cast<size_t>(dimension);
    const auto require = [&](ComparisonDirection direction, int64_t bound) {
      const Literal literal =
          Literal::ScalarInt(r.shape(starts[i]).element_type(), bound);
      const InstructionId condition =
          MakeCompare(r, direction, starts[i], MakeConstant(r, literal));
      result = result == kNoInstruction
                   ? condition
                   : MakeBinary(r, Opcode::kAnd, result, condition);
    };
    require(ComparisonDirection::kGe, 0);
    require(ComparisonDirection::kLe, bounds[i] - sizes[i]);
  }
  return result;
}

bool ExpandScatter(Rewriter& r, InstructionId id) {
  const Instruction& scatter = r[id];
  if (scatter.attributes().scatter == nullptr || scatter.operand_count() != 3) {
    return false;
  }
  const ScatterDimensions& d = *scatter.attributes().scatter;
  const InstructionId operand = scatter.operand(0);
  const InstructionId indices = scatter.operand(1);
  const InstructionId updates = scatter.operand(2);
  if (r.shape(updates).num_elements() == 0 ||
      r.shape(operand).num_elements() == 0) {
    return r.Replace(id, operand);
  }
  const std::optional<Opcode> combiner =
      CombinerOpcode(r.module().computation(scatter.called()[0]));
  const DimensionVector& bounds = r.dimensions_of(operand);
  const DimensionVector sizes =
      WindowSizes(d, r.shape(operand), r.shape(updates));
  if (!combiner.has_value() || bounds.empty() ||
      IndexVectorCount(r.shape(indices), d.index_vector_dim) != 1 ||
      !std::all_of(bounds.begin(), bounds.end(), [&](int64_t bound) {
        return IndexTypeHolds(r.shape(indices).element_type(), bound);
      })) {
    return false;
  }
  const InstructionIds starts = AddStartIndices(
      r, indices, d.scatter_dims_to_operand_dims, r.shape(operand).rank());
  const InstructionId in_bounds = MakeInBounds(r, d, starts, sizes, bounds);
  const InstructionId old = MakeDynamicSlice(r, operand, starts, sizes);
  InstructionId window = MakeReshape(r, updates, sizes);
  if (*combiner != Opcode::kParameter) {
    window = MakeBinary(r, *combiner, old, window);
  }
  if (in_bounds != kNoInstruction) {
    window = MakeSelect(r, MakeBroadcast(r, in_bounds, sizes, {}), window, old);
  }
  return r.Replace(id, MakeDynamicUpdateSlice(r, operand, window, starts));
}

}  // namespace

std::unique_ptr<Pass> MakeScatterExpander() {
  return MakeRulePass(
      {.name = "scatter_expander", .opcodes = {Opcode::kScatter}},
      ExpandScatter);
}

}  // namespace hone::hlo
