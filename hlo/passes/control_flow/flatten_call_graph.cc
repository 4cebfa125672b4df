// flatten-call-graph: gives every call site a computation of its own.
//
//   a = call(p), to_apply=f           a = call(p), to_apply=f
//   b = call(q), to_apply=f     →     b = call(q), to_apply=f.clone
//
// for call, while and conditional, down to what the copies call. A computation
// that is also applied per element (by reduce, sort and the like) or called
// asynchronously is not shared with any such site; those uses share on. Passes
// that specialize a body to its caller need it; it copies code (up to the
// CloningBudget) and changes no result: exact. computation-deduplicator undoes
// it. Computations that the entry does not reach, and scheduled modules, are
// left alone.

#include <memory>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "hlo/ir/clone.h"
#include "hlo/ir/id_map.h"
#include "hlo/passes/registry.h"
#include "hlo/rewrite/callees.h"
#include "hlo/rewrite/driver.h"

namespace hone::hlo {
namespace {

bool IsCallSite(Opcode opcode) {
  return opcode == Opcode::kCall || opcode == Opcode::kWhile ||
         opcode == Opcode::kConditional;
}

// Marks what uses other than call sites call.
IdMap<bool> CalledOtherwise(const Module& module) {
  IdMap<bool> result;
  for (const Computation& computation : module.computations()) {
    for (const Instruction& instruction : computation.instructions()) {
      if (IsCallSite(instruction.opcode())) continue;
      for (ComputationId callee : instruction.called()) result[callee] = true;
    }
  }
  return result;
}

class FlattenCallGraph final : public Pass {
 public:
  absl::string_view name() const override { return "flatten-call-graph"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& options) const override {
    if (module.is_scheduled()) return false;
    const RewriteRule rule = {
        .name = name(),
        .opcodes = {Opcode::kCall, Opcode::kConditional, Opcode::kWhile},
        .checks_itself = true};
    // By computation: whether a site before this one has it.
    IdMap<bool> taken = CalledOtherwise(module);
    std::vector<ComputationId> worklist = {module.entry()};
    ComputationCloner cloner(module);
    int64_t budget = CloningBudget(module);
    const auto flatten = [&](Rewriter& r, InstructionId id) {
      ComputationIds called = r[id].called();
      for (ComputationId& callee : called) {
        if (taken.at(callee)) {
          const int64_t size = module.computation(callee).live_count();
          if (size > budget || !MayBeCopied(module.computation(callee))) {
            continue;
          }
          budget -= size;
          callee = cloner.Clone(callee);
        }
        taken[callee] = true;
        worklist.push_back(callee);
      }
      if (called == r[id].called()) return false;
      r.SetCalled(id, std::move(called));
      return true;
    };
    bool changed = false;
    while (!worklist.empty()) {
      const ComputationId caller = worklist.back();
      worklist.pop_back();
      HONE_ASSIGN_OR_RETURN(
          const bool flattened,
          RewriteComputation(module, caller, rule, options, flatten));
      changed |= flattened;
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeFlattenCallGraph() {
  return std::make_unique<FlattenCallGraph>();
}

}  // namespace hone::hlo
