// reduce-decomposer: lets reductions keep the layout of their operands.
//
//   reduce(x) into another layout than x without the reduced dimensions has
//     →  copy(reduce(x)), the copy changes the layout
//   reduce(x, y), layouts of x and y differ  →  reduce(x, copy(y))
//
// A convert that alone uses a reduction stays beside it, in front of the copy.
// For code generators that walk the operand in memory order. Legal always, and
// exact; it finds nothing to do before layouts are assigned. Not for tiled
// layouts and dynamic shapes.

#include <memory>
#include <utility>
#include <vector>

#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/rewrite/dimensions.h"
#include "hlo/rewrite/layouts.h"
#include "hlo/rewrite/makers.h"

namespace hone::hlo {
namespace {

// `result` with the layout that is left of the operand's when the reduced
// dimensions are gone.
ShapePtr WithReducedLayout(const Shape& result, const Shape& operand,
                           const DimensionVector& reduced) {
  if (operand.layout() == nullptr) return WithLayout(result, nullptr);
  const DimensionVector kept = OtherDimensions(reduced, operand.rank());
  DimensionVector place(static_cast<size_t>(operand.rank()));
  for (size_t i = 0; i < kept.size(); ++i) {
    place[static_cast<size_t>(kept[i])] = static_cast<int64_t>(i);
  }
  Layout layout;
  for (int64_t d : operand.layout()->minor_to_major) {
    if (!Contains(reduced, d)) {
      layout.minor_to_major.push_back(place[static_cast<size_t>(d)]);
    }
  }
  return WithLayout(result, &layout);
}

// The shapes of the arrays that a reduction returns.
std::vector<ShapePtr> Results(const Instruction& reduce) {
  if (reduce.shape().IsTuple()) return reduce.shape().tuple_elements();
  return {reduce.shape_ptr()};
}

// Adds `reduce` with results of the shapes `results` instead, and returns the
// value of `id`, which is `reduce` or a convert of it, made from that.
InstructionId MakeInLayout(Rewriter& r, InstructionId id, Instruction reduce,
                           std::vector<ShapePtr> results) {
  if (reduce.shape().IsTuple()) {
    reduce.set_shape(Shape::Tuple(results));
    const InstructionId moved = r.AddCopy(std::move(reduce));
    InstructionIds copies;
    for (size_t i = 0; i < results.size(); ++i) {
      const InstructionId element =
          MakeGetTupleElement(r, moved, static_cast<int32_t>(i));
      copies.push_back(
          MakeCopyInto(r, element, r.shape(id).tuple_elements()[i]));
    }
    return MakeTuple(r, copies);
  }
  reduce.set_shape(results[0]);
  const InstructionId moved = r.AddCopy(std::move(reduce));
  return MakeCopyInto(r, MakeConvert(r, moved, r.shape(id).element_type()),
                      r[id].shape_ptr());
}

bool DecomposeReduce(Rewriter& r, InstructionId id) {
  if (!MayReplaceInLayout(r, id)) return false;
  const Shape& first = r.shape(r.operand(id, 0));
  InstructionIds operands = r[id].operands();
  std::vector<ShapePtr> results = Results(r[id]);
  bool moves_results = false;
  for (size_t i = 0; i < results.size(); ++i) {
    const Shape& operand = r.shape(operands[i]);
    if (!IsPlainArray(operand) || !IsPlainArray(*results[i])) return false;
    if (!HaveSameLayout(operand, first)) {
      operands[i] = MakeCopyInto(r, operands[i],
                                 WithLayout(operand, first.layout().get()));
    }
    const Shape& result = *results[i];
    ShapePtr expected = WithReducedLayout(result, first, r[id].dimensions());
    moves_results |= !HaveSameLayout(*expected, result);
    results[i] = std::move(expected);
  }
  if (!moves_results) {
    if (operands == r[id].operands()) return false;
    r.SetOperands(id, operands);
    return true;
  }
  Instruction reduce = r[id].WithOperands(operands);
  InstructionId replaced = id;
  const InstructionIds& users = r[id].users();
  if (users.size() == 1 && r.DiesWith(id, users[0]) &&
      r.Is(users[0], Opcode::kConvert) && MayReplaceInLayout(r, users[0])) {
    replaced = users[0];
  }
  return r.Replace(replaced, MakeInLayout(r, replaced, std::move(reduce),
                                          std::move(results)));
}

}  // namespace

std::unique_ptr<Pass> MakeReduceDecomposer() {
  return MakeRulePass({.name = "reduce-decomposer",
                       .opcodes = {Opcode::kReduce},
                       .checks_itself = true},
                      DecomposeReduce);
}

}  // namespace hone::hlo
