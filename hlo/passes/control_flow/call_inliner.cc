// call-inliner: puts the body of a called computation in place of the call.
//
//   f(x) { ROOT y = abs(x) }
//   a = call(p), to_apply=f
//   ROOT r = negate(a)          →   y' = abs(p);  ROOT r = negate(y')
//
// at every call site, innermost calls first. Computations that nothing calls
// any more are removed, and where there was a call, so is what nothing needs
// any more, such as the part of a body whose result the caller leaves unused.
// Exact. Legal whatever the body does: a call runs it once, and effects and
// control dependencies of the body come along. Kept are calls that say so
// (frontend attributes inlineable="false" or _xla…), that have a
// backend_config, that run on another execution thread or are ends of control
// dependencies, whose attributes the body's result cannot have, and those
// beyond the CloningBudget. Scheduled modules are left alone.
//
// Most passes see nothing across calls, so this goes first; but later
// computation-deduplicator finds less to merge and compile time grows.

#include <memory>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"

#include "base/status_macros.h"
#include "hlo/passes/registry.h"
#include "hlo/rewrite/callees.h"
#include "hlo/rewrite/carried_attributes.h"
#include "hlo/rewrite/dead_code.h"
#include "hlo/rewrite/driver.h"

namespace hone::hlo {
namespace {

// Returns true if the attributes of a call mean something to whoever compiles
// it as a call.
bool HasToStay(const Instruction& call) {
  const std::optional<FrontendEntries> frontend = FrontendAttributes(call);
  return FindAttribute(call, "backend_config") != nullptr ||
         !frontend.has_value() ||
         absl::c_any_of(*frontend, [](const auto& entry) {
           const auto& [key, value] = entry;
           return absl::StartsWith(key, "_xla") ||
                  (key == "inlineable" && value == "\"false\"");
         });
}

class CallInliner final : public Pass {
 public:
  absl::string_view name() const override { return "call-inliner"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& options) const override {
    const RewriteRule rule = {.name = name(),
                              .opcodes = {Opcode::kCall},
                              .call_order = CallOrder::kCalleesFirst,
                              .dynamic = true,
                              .checks_itself = true};
    Callees callees(module);
    IdMap<bool> callers;
    HONE_ASSIGN_OR_RETURN(
        const bool changed,
        RewriteModule(
            module, rule, options, [&](Rewriter& r, InstructionId id) {
              const InstructionIds arguments = r[id].operands();
              if (HasToStay(r[id]) || !callees.Inline(r, id, 0, arguments)) {
                return false;
              }
              callers[r.computation().id()] = true;
              return true;
            }));
    for (ComputationId id : module.ComputationIds()) {
      if (callers.at(id)) RemoveDeadInstructions(module, id);
    }
    // Not the driver's drops_callees: what was dead may have called something.
    if (changed) module.RemoveUnreachableComputations();
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeCallInliner() {
  return std::make_unique<CallInliner>();
}

}  // namespace hone::hlo
