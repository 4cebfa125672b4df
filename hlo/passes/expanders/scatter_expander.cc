// scatter_expander: makes scatters of one window dynamic-update-slices.
//
//   s = f32[9] scatter(a, s32[1] at, f32[2] update), to_apply=add
//   →
//   old = f32[2] dynamic-slice(a, at)
//   in  = pred[2] broadcast(0 <= at && at <= 7)
//   s   = f32[9] dynamic-update-slice(a, select(in, old + update, old), at)
//
// The bounds are not checked along dimensions that the index leaves at zero. A
// scatter of empty updates is its operand.
//
// Legal always: a scatter leaves out windows that are not in bounds, where the
// slices are clamped. It adds instructions, fewer when algsimp knows the index:
// for those it should come in front of simplifications. Upstream can expand
// every scatter into a loop; this leaves scatters of several windows, operands
// or regions that are more than one operation.

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "hlo/passes/registry.h"
#include "hlo/rewrite/index_vectors.h"
#include "hlo/rewrite/rewrite_each.h"

namespace hone::hlo {
namespace {

// What the region makes of (value, update): one of the two-operand opcodes of
// ReductionOpcode, or kParameter for the update itself.
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

InstructionId AddCompare(Rewriter& r, InstructionId lhs, InstructionId rhs,
                         ComparisonDirection direction) {
  auto attributes = std::make_shared<Attributes>();
  attributes->direction = direction;
  return r.Add(Instruction(Opcode::kCompare, Shape::Scalar(ElementType::kPred),
                           {lhs, rhs}, std::move(attributes)));
}

// Whether the window is in bounds along every dimension that has an index.
InstructionId AddInBounds(Rewriter& r, const ScatterDimensions& d,
                          const InstructionIds& starts,
                          const DimensionVector& sizes,
                          const DimensionVector& bounds) {
  InstructionId result = kNoInstruction;
  const auto require = [&](InstructionId condition) {
    result = result == kNoInstruction
                 ? condition
                 : MakeBinary(r, Opcode::kAnd, result, condition);
  };
  for (int64_t dimension : d.scatter_dims_to_operand_dims) {
    const size_t i = static_cast<size_t>(dimension);
    const ElementType type = r.shape(starts[i]).element_type();
    const auto add_constant = [&](int64_t value) {
      return r.Add(Instruction::Constant(Literal::ScalarInt(type, value)));
    };
    require(
        AddCompare(r, starts[i], add_constant(0), ComparisonDirection::kGe));
    require(AddCompare(r, starts[i], add_constant(bounds[i] - sizes[i]),
                       ComparisonDirection::kLe));
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
  if (r.shape(updates).num_elements() == 0) return r.Replace(id, operand);
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
  const InstructionId in_bounds = AddInBounds(r, d, starts, sizes, bounds);

  InstructionIds slice_operands = {operand};
  slice_operands.insert(slice_operands.end(), starts.begin(), starts.end());
  const InstructionId old =
      r.Add(Instruction(Opcode::kDynamicSlice,
                        Shape::Array(scatter.shape().element_type(), sizes),
                        slice_operands, DimensionAttributes(sizes)));
  InstructionId window = MakeReshape(r, updates, sizes);
  if (*combiner != Opcode::kParameter) {
    window = MakeBinary(r, *combiner, old, window);
  }
  if (in_bounds != kNoInstruction) {
    const InstructionId mask = MakeBroadcast(r, in_bounds, sizes, {});
    window = r.Add(
        Instruction(Opcode::kSelect, r[old].shape_ptr(), {mask, window, old}));
  }
  slice_operands.insert(slice_operands.begin() + 1, window);
  return r.ReplaceWith(id, Instruction(Opcode::kDynamicUpdateSlice,
                                       scatter.shape_ptr(), slice_operands));
}

class ScatterExpander final : public Pass {
 public:
  absl::string_view name() const override { return "scatter_expander"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    return RewriteEach(module, IsOpcode(Opcode::kScatter), ExpandScatter);
  }
};

}  // namespace

std::unique_ptr<Pass> MakeScatterExpander() {
  return std::make_unique<ScatterExpander>();
}

}  // namespace hone::hlo
