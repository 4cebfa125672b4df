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
// Exact and legal because the reduction keeps what comes first where select
// does, as the instruction itself, and scatter drops what a window of padding
// alone selects. Not for regions with effects and dynamic shapes.

#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "hlo/ir/clone.h"
#include "hlo/passes/registry.h"
#include "hlo/rewrite/dimensions.h"
#include "hlo/rewrite/driver.h"
#include "hlo/rewrite/makers.h"
#include "hlo/rewrite/regions/named_region.h"

namespace hone::hlo {
namespace {

constexpr ElementType kIndex = ElementType::kS32;

// Regions of AddArgSelectRegion by select region and rank.
using ArgSelectRegions =
    absl::flat_hash_map<std::pair<ComputationId, int64_t>, ComputationId>;

Instruction Comparison(ComparisonDirection direction, InstructionId a,
                       InstructionId b) {
  auto attributes = std::make_shared<Attributes>();
  attributes->direction = direction;
  return Instruction(Opcode::kCompare, Shape::Scalar(ElementType::kPred),
                     {a, b}, std::move(attributes));
}

// (value, place…), (value, place…) → the first pair if `select` keeps it, where
// a place whose first index is -1 is never kept against another.
ComputationId AddArgSelectRegion(Module& module, ComputationId select,
                                 ElementType type, int64_t rank) {
  const ShapePtr pred = Shape::Scalar(ElementType::kPred);
  Computation region(module.computation(select).name() + ".reduce_window");
  std::vector<ShapePtr> shapes(static_cast<size_t>(rank),
                               Shape::Scalar(kIndex));
  shapes.insert(shapes.begin(), Shape::Scalar(type));
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
  const InstructionId lhs_is_real =
      region.AddInstruction(Comparison(ComparisonDirection::kNe, lhs[1], none));
  const InstructionId rhs_is_padding =
      region.AddInstruction(Comparison(ComparisonDirection::kEq, rhs[1], none));
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

// The places that the windows of `id` select: index vectors in a last
// dimension.
InstructionId MakeSelectedPlaces(Rewriter& r, InstructionId id,
                                 ComputationId region) {
  const InstructionId x = r.operand(id, 0);
  const int64_t rank = r.shape(x).rank();
  InstructionIds operands = {x};
  for (int64_t d = 0; d < rank; ++d) {
    operands.push_back(MakeIota(r, kIndex, r.dimensions_of(x), d));
  }
  operands.push_back(r.operand(id, 2));
  operands.insert(operands.end(), static_cast<size_t>(rank),
                  MakeConstant(r, Literal::ScalarInt(kIndex, -1)));
  auto attributes = std::make_shared<Attributes>();
  attributes->window = r[id].attributes().window;
  Instruction reduce(Opcode::kReduceWindow, nullptr, operands,
                     std::move(attributes));
  reduce.set_called({region});
  const InstructionId selected = r.Add(std::move(reduce));

  DimensionVector sizes = r.dimensions_of(r.operand(id, 1));
  sizes.push_back(1);
  InstructionIds parts;
  for (int32_t d = 1; d <= rank; ++d) {
    parts.push_back(MakeReshape(r, MakeGetTupleElement(r, selected, d), sizes));
  }
  return MakeConcatenate(r, parts, rank);
}

bool ExpandSelectAndScatter(Module& module, Rewriter& r, InstructionId id,
                            ArgSelectRegions& regions) {
  const DimensionVector sizes = r.dimensions_of(id);
  const int64_t rank = static_cast<int64_t>(sizes.size());
  if (rank == 0) return false;
  for (int64_t size : sizes) {
    if (size > std::numeric_limits<int32_t>::max()) return false;
  }
  const ComputationId select = r[id].called()[0];
  auto [region, is_new] = regions.try_emplace({select, rank}, kNoComputation);
  if (is_new) {
    region->second =
        AddArgSelectRegion(module, select, r.shape(id).element_type(), rank);
  }
  auto dimensions = std::make_shared<ScatterDimensions>();
  dimensions->inserted_window_dims = IdentityPermutation(rank);
  dimensions->scatter_dims_to_operand_dims = IdentityPermutation(rank);
  dimensions->index_vector_dim = rank;
  auto attributes = std::make_shared<Attributes>();
  attributes->scatter = std::move(dimensions);
  Instruction scatter(
      Opcode::kScatter, nullptr,
      {MakeBroadcast(r, r.operand(id, 2), sizes, {}),
       MakeSelectedPlaces(r, id, region->second), r.operand(id, 1)},
      std::move(attributes));
  scatter.set_called({r[id].called()[1]});
  return r.ReplaceWith(id, std::move(scatter));
}

class SelectAndScatterExpander final : public Pass {
 public:
  absl::string_view name() const override {
    return "select_and_scatter_expander";
  }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& options) const override {
    ArgSelectRegions regions;
    // The select regions go with the calls of them.
    return RewriteModule(module,
                         {.name = name(),
                          .opcodes = {Opcode::kSelectAndScatter},
                          .drops_callees = true},
                         options, [&](Rewriter& r, InstructionId id) {
                           return ExpandSelectAndScatter(module, r, id,
                                                         regions);
                         });
  }
};

}  // namespace

std::unique_ptr<Pass> MakeSelectAndScatterExpander() {
  return std::make_unique<SelectAndScatterExpander>();
}

}  // namespace hone::hlo
