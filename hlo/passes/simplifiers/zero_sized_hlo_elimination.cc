// zero_sized_hlo_elimination: an array without elements is a constant.
//
//   f32[0,3] multiply(a, b)   →   f32[0,3] constant({})
//
// Legal because there is only one such value. Numeric class: exact. Dynamic
// shapes are left alone: their size is a bound.

#include <memory>

#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/rewrite/makers.h"

namespace hone::hlo {
namespace {

bool IsEmpty(const Instruction& instruction) {
  const Shape& shape = instruction.shape();
  return shape.IsArray() && shape.num_elements() == 0 && !shape.is_dynamic() &&
         !instruction.IsConstant();
}

bool Eliminate(Rewriter& r, InstructionId id) {
  return IsEmpty(r[id]) && r.MayReplace(id, /*dynamic=*/true) &&
         r.Replace(id, MakeConstant(r, Literal(r[id].shape_ptr())));
}

}  // namespace

std::unique_ptr<Pass> MakeZeroSizedHloElimination() {
  // Few instructions are empty, so Eliminate asks that first.
  return MakeRulePass(
      {.name = "zero_sized_hlo_elimination", .checks_itself = true}, Eliminate);
}

}  // namespace hone::hlo
