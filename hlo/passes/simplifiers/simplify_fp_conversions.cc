// simplify-fp-conversions: leaves out the steps of a chain of conversions.
//
//   convert(convert(convert(x)))  →  convert(x), or x where the type is the
//   same
//
// between floating-point types. Legal where every type on the way holds every
// value of x, so that only the last step rounds: from bf16 and f16 through f32
// and f64, from f32 through f64. Numeric class: exact. A step that rounds
// stays: upstream drops it where excess precision is allowed, but it is part of
// the meaning.

#include <algorithm>
#include <memory>
#include <vector>

#include "hlo/passes/algsimp/rules.h"
#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/rewrite/makers.h"

namespace hone::hlo {
namespace {

bool IsStep(const Rewriter& r, InstructionId id) {
  return r.Is(id, Opcode::kConvert) && IsFloat(r.shape(id).element_type());
}

bool LeaveOutSteps(Rewriter& r, InstructionId id) {
  if (!IsStep(r, id)) return false;
  // The earliest start of the chain, at least two steps away.
  InstructionId start = kNoInstruction;
  std::vector<ElementType> passed;
  InstructionId step = r.operand(id, 0);
  while (IsStep(r, step)) {
    passed.push_back(r.shape(step).element_type());
    step = r.operand(step, 0);
    const ElementType from = r.shape(step).element_type();
    if (IsFloat(from) &&
        std::all_of(passed.begin(), passed.end(), [&](ElementType type) {
          return algsimp::IsLossless(from, type);
        })) {
      start = step;
    }
  }
  return start != kNoInstruction &&
         r.Replace(id, MakeConvert(r, start, r.shape(id).element_type()));
}

}  // namespace

std::unique_ptr<Pass> MakeSimplifyFpConversions() {
  return MakeRulePass({.name = "simplify-fp-conversions",
                       .opcodes = {Opcode::kConvert},
                       .visit = Visit::kFixedPoint,
                       .dynamic = true},
                      LeaveOutSteps);
}

}  // namespace hone::hlo
