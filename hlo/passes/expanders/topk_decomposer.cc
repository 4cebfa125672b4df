// topk-decomposer: makes topk a sort of which the first elements are taken.
//
//   t = (f32[2,3], s32[2,3]) topk(f32[2,8] a), k=3, largest=true
//   →
//   s = (f32[2,8], s32[2,8]) sort(a, iota()), dimensions={1}, is_stable=true,
//       to_apply=greater
//   t = (slice(s.0), slice(s.1))
//
// Legal always: equal elements come in the order of their positions, floats in
// total order. It adds instructions, and a sort costs more than a selection:
// for backends without topk.

#include <memory>
#include <utility>
#include <vector>

#include "hlo/passes/registry.h"
#include "hlo/rewrite/named_region.h"
#include "hlo/rewrite/rewrite_each.h"

namespace hone::hlo {
namespace {

// A region (a, b, position of a, position of b) → whether a comes first.
Computation MakeOrder(ElementType type, bool largest) {
  const ShapePtr value = Shape::Scalar(type);
  const ShapePtr position = Shape::Scalar(ElementType::kS32);
  Computation region(largest ? "compare_greater_than" : "compare_less_than");
  const InstructionId a =
      region.AddInstruction(Instruction::Parameter(0, value));
  const InstructionId b =
      region.AddInstruction(Instruction::Parameter(1, value));
  region.AddInstruction(Instruction::Parameter(2, position));
  region.AddInstruction(Instruction::Parameter(3, position));
  auto attributes = std::make_shared<Attributes>();
  attributes->direction =
      largest ? ComparisonDirection::kGt : ComparisonDirection::kLt;
  if (KindOf(type) == ElementKind::kFloat) {
    attributes->comparison_type = "TOTALORDER";
  }
  region.set_root(region.AddInstruction(
      Instruction(Opcode::kCompare, Shape::Scalar(ElementType::kPred), {a, b},
                  std::move(attributes))));
  return region;
}

bool Decompose(Module& module, Rewriter& r, InstructionId id) {
  const Instruction& topk = r[id];
  const InstructionId operand = topk.operand(0);
  const Shape& shape = r.shape(operand);
  if (shape.rank() == 0 || topk.shape().tuple_elements().size() != 2) {
    return false;
  }
  const int64_t last = shape.rank() - 1;
  const ShapePtr positions =
      Shape::Array(ElementType::kS32, shape.dimensions());
  if (topk.shape().tuple_element(1)->element_type() != ElementType::kS32) {
    return false;
  }
  const InstructionId iota = r.Add(
      Instruction(Opcode::kIota, positions, {}, DimensionAttributes({last})));
  auto attributes = std::make_shared<Attributes>();
  attributes->dimensions = {last};
  attributes->is_stable = true;
  const ShapePtr values =
      Shape::Array(shape.element_type(), shape.dimensions());
  Instruction sort(Opcode::kSort, Shape::Tuple({values, positions}),
                   {operand, iota}, std::move(attributes));
  sort.set_metadata(topk.metadata());
  sort.set_called({AddNamedRegion(
      module, MakeOrder(shape.element_type(), topk.attributes().largest))});
  const InstructionId sorted = r.Add(std::move(sort));

  std::vector<SliceDimension> slice;
  for (int64_t size : topk.shape().tuple_element(0)->dimensions()) {
    slice.push_back({0, size, 1});
  }
  InstructionIds results(2, kNoInstruction);
  const auto result = [&](int32_t i) {
    InstructionId& made = results[static_cast<size_t>(i)];
    if (made == kNoInstruction) {
      const InstructionId element = r.Add(
          Instruction::GetTupleElement(i == 0 ? values : positions, sorted, i));
      made = MakeSlice(r, element, slice);
    }
    return made;
  };
  // Mostly the elements are all that is used.
  const InstructionIds users = r[id].users();
  for (InstructionId user : users) {
    if (r.Is(user, Opcode::kGetTupleElement) && MayRewrite(r, user)) {
      r.Replace(user, result(r[user].index()));
    }
  }
  if (!r[id].is_live()) return true;
  const InstructionId first = result(0);
  const InstructionId tuple =
      r.Add(Instruction(Opcode::kTuple, r[id].shape_ptr(), {first, result(1)}));
  return r.Replace(id, tuple);
}

class TopkDecomposer final : public Pass {
 public:
  absl::string_view name() const override { return "topk-decomposer"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    return RewriteEach(module, IsOpcode(Opcode::kTopk),
                       [&module](Rewriter& r, InstructionId id) {
                         return Decompose(module, r, id);
                       });
  }
};

}  // namespace

std::unique_ptr<Pass> MakeTopkDecomposer() {
  return std::make_unique<TopkDecomposer>();
}

}  // namespace hone::hlo
