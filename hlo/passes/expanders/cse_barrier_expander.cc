// cse_barrier_expander: removes optimization barriers.
//
//   opt-barrier(x)  →  x
//
// Legal always, and exact: a barrier computes nothing. It keeps what is on its
// two sides apart, most often a value from its recomputation
// (rematerialization), which a cse behind this pass merges again: fewer
// operations, but the value lives on and peak memory grows. So this goes after
// the last cse, and after everything else that must not see across. What had to
// run before or after the barrier keeps that order only through it, so ends of
// control dependencies are left alone.

#include <memory>

#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/rewrite/carried_attributes.h"

namespace hone::hlo {
namespace {

// Barriers count as effects, so this asks all that Rewriter::MayReplace does
// but for that.
bool RemoveBarrier(Rewriter& r, InstructionId id) {
  return AttributesPermitReplacing(r[id]) &&
         !r.computation().HasControlDependency(id) &&
         r.Replace(id, r.operand(id, 0));
}

}  // namespace

std::unique_ptr<Pass> MakeCseBarrierExpander() {
  return MakeRulePass({.name = "cse_barrier_expander",
                       .opcodes = {Opcode::kOptBarrier},
                       .checks_itself = true},
                      RemoveBarrier);
}

}  // namespace hone::hlo
