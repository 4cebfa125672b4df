// call-inliner: puts the body of a called computation in place of the call.
//
//   f(x) { ROOT y = abs(x) }
//   a = call(p), to_apply=f
//   ROOT r = negate(a)          →   y' = abs(p);  ROOT r = negate(y')
//
// at every call site, innermost calls first. Computations that nothing calls
// any more are removed, and where there was a call, so is what nothing needs
// any more, such as the part of a body whose result the caller leaves unused.
// Legal whatever the body does: a call runs it once. Kept are calls that say so
// (frontend_attributes inlineable="false"), that run on another execution
// thread or are ends of control dependencies, and those that are beyond the
// CloningBudget. Scheduled modules are left alone.
//
// Most passes see nothing across calls, so this goes first; but later
// computation-deduplicator finds less to merge and compile time grows.

#include <memory>
#include <vector>

#include "absl/strings/match.h"

#include "hlo/ir/clone.h"
#include "hlo/passes/registry.h"
#include "hlo/rewrite/dead_code.h"

namespace hone::hlo {
namespace {

bool SaysNotInlineable(const Attributes& attributes) {
  for (const auto& [name, value] : attributes.others) {
    if (name == "frontend_attributes" &&
        absl::StrContains(value, "inlineable=\"false\"")) {
      return true;
    }
  }
  return false;
}

bool IsInlineable(const Module& module, const Computation& caller,
                  InstructionId id) {
  const Instruction& instruction = caller[id];
  return instruction.opcode() == Opcode::kCall &&
         module.computation(instruction.called()[0]).suffix() ==
             caller.suffix() &&
         !SaysNotInlineable(instruction.attributes()) &&
         !caller.HasControlDependency(id);
}

class CallInliner final : public Pass {
 public:
  absl::string_view name() const override { return "call-inliner"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    if (module.is_scheduled()) return false;
    bool changed = false;
    int64_t budget = CloningBudget(module);
    for (ComputationId caller_id : module.ComputationPostOrder()) {
      std::vector<InstructionId> calls;
      const Computation& shared = module.computation(caller_id);
      for (InstructionId id = 0; id < shared.slot_count(); ++id) {
        if (shared[id].is_live() && IsInlineable(module, shared, id)) {
          calls.push_back(id);
        }
      }
      bool inlined = false;
      for (InstructionId call : calls) {
        const ComputationId callee_id =
            module.computation(caller_id)[call].called()[0];
        const int64_t size = module.computation(callee_id).live_count();
        if (size > budget) continue;
        budget -= size;
        Computation& caller = module.mutable_computation(caller_id);
        const Computation& callee = module.computation(callee_id);
        const InstructionId result =
            CloneInto(callee, caller[call].operands(), caller);
        caller.ReplaceAllUses(call, result);
        caller.Remove(call);
        inlined = true;
      }
      if (inlined) RemoveDeadInstructions(module, caller_id);
      changed |= inlined;
    }
    if (changed) module.RemoveUnreachableComputations();
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeCallInliner() {
  return std::make_unique<CallInliner>();
}

}  // namespace hone::hlo
