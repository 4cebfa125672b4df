// select_and_scatter_expander: finds the selected positions first, then
// scatters to them.
//
//   select-and-scatter(x, source, init), select=keeps, scatter=f
//     →  scatter(broadcast(init), positions, source), to_apply=f,
//        positions[s] = the place in x that the window at s selects
//
// where a reduce-window over x and an iota for each dimension carries the
// places along with the values; -1 marks those of the padding, which loses
// against everything. For code generators that have no such instruction.
//
// Legal because the reduction keeps what comes first where select does, as the
// instruction itself, and scatter drops what a window of padding alone selects.
// Not for regions with effects, dynamic shapes, sharded results, ends of
// control dependencies and scheduled modules.

#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "hlo/ir/clone.h"
#include "hlo/passes/registry.h"
#include "hlo/rewrite/builder.h"
#include "hlo/rewrite/call_sites.h"
#include "hlo/rewrite/named_region.h"

namespace hone::hlo {
namespace {

constexpr ElementType kIndex = ElementType::kS32;

Instruction MakeCompare(ComparisonDirection direction, InstructionId a,
                        InstructionId b) {
  auto attributes = std::make_shared<Attributes>();
  attributes->direction = direction;
  return Instruction(Opcode::kCompare, Shape::Scalar(ElementType::kPred),
                     {a, b}, std::move(attributes));
}

// (value, place…), (value, place…) → the first pair if `select` keeps it, where
// a place whose first index is -1 is never kept against another.
ComputationId AddArgSelectRegion(Module& module, ComputationId select,
                                 const ShapePtr& value, int64_t rank) {
  const ShapePtr pred = Shape::Scalar(ElementType::kPred);
  const ShapePtr index = Shape::Scalar(kIndex);
  Computation region(module.computation(select).name() + ".reduce_window");
  std::vector<ShapePtr> shapes(static_cast<size_t>(rank), index);
  shapes.insert(shapes.begin(), value);
  std::vector<InstructionId> lhs;
  std::vector<InstructionId> rhs;
  for (std::vector<InstructionId>* side : {&lhs, &rhs}) {
    for (const ShapePtr& shape : shapes) {
      const auto number = static_cast<int32_t>(region.parameters().size());
      side->push_back(
          region.AddInstruction(Instruction::Parameter(number, shape)));
    }
  }
  const InstructionId keeps =
      CloneInto(module.computation(select), {lhs[0], rhs[0]}, region);
  const InstructionId none = region.AddInstruction(
      Instruction::Constant(Literal::ScalarInt(kIndex, -1)));
  const InstructionId lhs_is_real = region.AddInstruction(
      MakeCompare(ComparisonDirection::kNe, lhs[1], none));
  const InstructionId rhs_is_padding = region.AddInstruction(
      MakeCompare(ComparisonDirection::kEq, rhs[1], none));
  const InstructionId both = region.AddInstruction(
      Instruction(Opcode::kAnd, pred, {keeps, lhs_is_real}));
  const InstructionId first = region.AddInstruction(
      Instruction(Opcode::kOr, pred, {both, rhs_is_padding}));
  InstructionIds results;
  for (size_t i = 0; i < shapes.size(); ++i) {
    results.push_back(region.AddInstruction(
        Instruction(Opcode::kSelect, shapes[i], {first, lhs[i], rhs[i]})));
  }
  region.set_root(region.AddInstruction(
      Instruction(Opcode::kTuple, Shape::Tuple(std::move(shapes)), results)));
  return AddNamedRegion(module, std::move(region));
}

// Expands one instruction with the region that AddArgSelectRegion made.
class Expander {
 public:
  Expander(Computation& computation, InstructionId id, ComputationId region)
      : computation_(computation),
        id_(id),
        region_(region),
        rank_(shape(operand(0)).rank()) {}

  void Run() {
    const InstructionId places = Concatenate(SelectedPlaces());
    const InstructionId target = computation_.AddInstruction(
        MakeBroadcast(computation_, operand(2), shape(id_).dimensions(), {}));
    auto dimensions = std::make_shared<ScatterDimensions>();
    dimensions->inserted_window_dims = IdentityPermutation(rank_);
    dimensions->scatter_dims_to_operand_dims = IdentityPermutation(rank_);
    dimensions->index_vector_dim = rank_;
    auto attributes = std::make_shared<Attributes>();
    attributes->scatter = std::move(dimensions);
    Instruction scatter(Opcode::kScatter, computation_[id_].shape_ptr(),
                        {target, places, operand(1)}, std::move(attributes));
    scatter.set_called({computation_[id_].called()[1]});
    computation_.ReplaceWithNew(id_, std::move(scatter));
  }

 private:
  InstructionId operand(size_t i) const { return computation_[id_].operand(i); }
  const Shape& shape(InstructionId id) const {
    return computation_[id].shape();
  }

  // A reduce-window: the values and places that the windows select.
  InstructionId SelectedPlaces() {
    const Shape& x = shape(operand(0));
    const Shape& windows = shape(operand(1));
    InstructionIds operands = {operand(0)};
    std::vector<ShapePtr> results = {
        Shape::Array(x.element_type(), windows.dimensions())};
    for (int64_t d = 0; d < rank_; ++d) {
      operands.push_back(computation_.AddInstruction(
          Instruction(Opcode::kIota, Shape::Array(kIndex, x.dimensions()), {},
                      DimensionAttributes({d}))));
      results.push_back(Shape::Array(kIndex, windows.dimensions()));
    }
    operands.push_back(operand(2));
    const InstructionId none = computation_.AddInstruction(
        Instruction::Constant(Literal::ScalarInt(kIndex, -1)));
    for (int64_t d = 0; d < rank_; ++d) operands.push_back(none);
    auto attributes = std::make_shared<Attributes>();
    attributes->window = computation_[id_].attributes().window;
    Instruction reduce(Opcode::kReduceWindow, Shape::Tuple(std::move(results)),
                       operands, std::move(attributes));
    reduce.set_called({region_});
    return computation_.AddInstruction(std::move(reduce));
  }

  // The places as index vectors in a last dimension.
  InstructionId Concatenate(InstructionId selected) {
    DimensionVector dimensions = shape(operand(1)).dimensions();
    const ShapePtr part = Shape::Array(kIndex, dimensions);
    dimensions.push_back(1);
    InstructionIds parts;
    for (int64_t d = 0; d < rank_; ++d) {
      const InstructionId element =
          computation_.AddInstruction(Instruction::GetTupleElement(
              part, selected, static_cast<int32_t>(d + 1)));
      parts.push_back(computation_.AddInstruction(
          MakeReshape(computation_, element, dimensions)));
    }
    dimensions.back() = rank_;
    return computation_.AddInstruction(
        Instruction(Opcode::kConcatenate, Shape::Array(kIndex, dimensions),
                    parts, DimensionAttributes({rank_})));
  }

  Computation& computation_;
  const InstructionId id_;
  const ComputationId region_;
  const int64_t rank_;
};

bool HasEffect(const Module& module, const Computation& region) {
  for (InstructionId id = 0; id < region.slot_count(); ++id) {
    if (region[id].is_live() && module.HasSideEffect(region[id])) return true;
  }
  return false;
}

bool IsExpandable(const Module& module, const Computation& computation,
                  InstructionId id) {
  const Instruction& instruction = computation[id];
  return instruction.is_live() &&
         instruction.opcode() == Opcode::kSelectAndScatter &&
         instruction.shape().rank() > 0 && !instruction.shape().is_dynamic() &&
         !IsSharded(instruction) && !computation.HasControlDependency(id) &&
         !HasEffect(module, module.computation(instruction.called()[0]));
}

class SelectAndScatterExpander final : public Pass {
 public:
  absl::string_view name() const override {
    return "select_and_scatter_expander";
  }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    if (module.is_scheduled()) return false;
    bool changed = false;
    // By select region and rank.
    absl::flat_hash_map<std::pair<ComputationId, int64_t>, ComputationId>
        regions;
    const ComputationId slots = module.computation_slots();
    for (ComputationId c = 0; c < slots; ++c) {
      if (!module.has_computation(c)) continue;
      const InstructionId count = module.computation(c).slot_count();
      for (InstructionId id = 0; id < count; ++id) {
        if (!IsExpandable(module, module.computation(c), id)) continue;
        const Instruction instruction = module.computation(c)[id];
        const ComputationId select = instruction.called()[0];
        const int64_t rank = instruction.shape().rank();
        auto [it, is_new] = regions.try_emplace({select, rank}, 0);
        if (is_new) {
          it->second = AddArgSelectRegion(
              module, select, Shape::Scalar(instruction.shape().element_type()),
              rank);
        }
        Expander(module.mutable_computation(c), id, it->second).Run();
        changed = true;
      }
    }
    if (changed) module.RemoveUnreachableComputations();
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeSelectAndScatterExpander() {
  return std::make_unique<SelectAndScatterExpander>();
}

}  // namespace hone::hlo
