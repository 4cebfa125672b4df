// topk-decomposer: makes topk a sort of which the first elements are taken.
//
//   t = (f32[2,3], s32[2,3]) topk(f32[2,8] a), k=3, largest=true
//   →
//   s = (f32[2,8], s32[2,8]) sort(a, iota()), dimensions={1}, is_stable=true,
//       to_apply=greater
//   t = (slice(s.0), slice(s.1))
//
// Stronger than upstream's: where only elements of t are used, no tuple is
// made.
//
// Legal always, and exact: equal elements come in the order of their positions,
// floats in total order. It adds instructions, and a sort costs more than a
// selection: for backends without topk.

#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/rewrite/carried_attributes.h"
#include "hlo/rewrite/makers.h"
#include "hlo/rewrite/regions/named_region.h"

namespace hone::hlo {
namespace {

// A region (a, b, position of a, position of b) → true if a comes first.
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
  if (IsFloat(type)) attributes->comparison_type = "TOTALORDER";
  region.set_root(region.AddInstruction(
      Instruction(Opcode::kCompare, Shape::Scalar(ElementType::kPred), {a, b},
                  std::move(attributes))));
  return region;
}

bool DecomposeTopk(Module& module, Rewriter& r, InstructionId id) {
  const InstructionId operand = r.operand(id, 0);
  const Shape& shape = r.shape(operand);
  if (shape.rank() == 0 || IsComplex(shape.element_type()) ||
      shape.dimensions().back() > std::numeric_limits<int32_t>::max()) {
    return false;
  }
  const int64_t last = shape.rank() - 1;
  const InstructionId positions =
      MakeIota(r, ElementType::kS32, shape.dimensions(), last);
  auto attributes = std::make_shared<Attributes>();
  attributes->dimensions = {last};
  attributes->is_stable = true;
  Instruction sort(Opcode::kSort, nullptr, {operand, positions},
                   std::move(attributes));
  sort.set_called({AddNamedRegion(
      module, MakeOrder(shape.element_type(), r[id].attributes().largest))});
  const InstructionId sorted = r.Add(std::move(sort));

  std::vector<SliceDimension> slice;
  for (int64_t size : shape.dimensions()) slice.push_back({0, size, 1});
  slice.back().limit = r[id].attributes().k;
  InstructionIds results(2, kNoInstruction);
  const auto result = [&](int32_t i) {
    InstructionId& made = results[static_cast<size_t>(i)];
    if (made == kNoInstruction) {
      made = MakeSlice(r, MakeGetTupleElement(r, sorted, i), slice);
    }
    return made;
  };
  // Mostly the elements are all that is used, and a tuple is needed only to
  // have the attributes of the old one.
  if (r[id].attributes_ptr() == WithoutCarried(r[id].attributes_ptr())) {
    const InstructionIds users = r[id].users();
    for (InstructionId user : users) {
      if (r.Is(user, Opcode::kGetTupleElement) && r.MayReplace(user)) {
        r.Replace(user, result(r[user].index()));
      }
    }
    if (!r.computation().Contains(id)) return true;
  }
  const InstructionId values = result(0);
  return r.Replace(id, MakeTuple(r, {values, result(1)}));
}

}  // namespace

std::unique_ptr<Pass> MakeTopkDecomposer() {
  return MakeRulePass({.name = "topk-decomposer", .opcodes = {Opcode::kTopk}},
                      DecomposeTopk);
}

}  // namespace hone::hlo
