// flatten-call-graph: gives every call site a computation of its own.
//
//   a = call(p), to_apply=f           a = call(p), to_apply=f
//   b = call(q), to_apply=f     →     b = call(q), to_apply=f.clone
//
// for call, while and conditional, down to what the copies call. A computation
// that is also applied per element (by reduce, sort and the like) or called
// asynchronously is not shared with any such site; those uses share on. Passes
// that specialise a body to its caller need it; it copies code (up to the
// CloningBudget) and changes no result. computation-deduplicator undoes it.
// Computations that the entry does not reach, and scheduled modules, are left
// alone.

#include <memory>
#include <vector>

#include "hlo/ir/clone.h"
#include "hlo/passes/registry.h"

namespace hone::hlo {
namespace {

bool IsCallSite(Opcode opcode) {
  return opcode == Opcode::kCall || opcode == Opcode::kWhile ||
         opcode == Opcode::kConditional;
}

// Marks what uses other than call sites call.
std::vector<bool> CalledOtherwise(const Module& module) {
  std::vector<bool> result(static_cast<size_t>(module.computation_slots()));
  for (ComputationId c = 0; c < module.computation_slots(); ++c) {
    if (!module.has_computation(c)) continue;
    const Computation& computation = module.computation(c);
    for (InstructionId id = 0; id < computation.slot_count(); ++id) {
      if (IsCallSite(computation[id].opcode())) continue;
      for (ComputationId callee : computation[id].called()) {
        result[static_cast<size_t>(callee)] = true;
      }
    }
  }
  return result;
}

class FlattenCallGraph final : public Pass {
 public:
  absl::string_view name() const override { return "flatten-call-graph"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    if (module.is_scheduled()) return false;
    // By computation: whether a site before this one has it.
    std::vector<bool> taken = CalledOtherwise(module);
    std::vector<ComputationId> worklist = {module.entry()};
    ComputationCloner cloner(module);
    int64_t budget = CloningBudget(module);
    bool changed = false;
    while (!worklist.empty()) {
      const ComputationId caller = worklist.back();
      worklist.pop_back();
      const InstructionId slots = module.computation(caller).slot_count();
      for (InstructionId id = 0; id < slots; ++id) {
        const Instruction& site = module.computation(caller)[id];
        if (!IsCallSite(site.opcode())) continue;
        ComputationIds called = site.called();
        for (ComputationId& callee : called) {
          if (taken[static_cast<size_t>(callee)]) {
            const int64_t size = module.computation(callee).live_count();
            if (size > budget) continue;
            budget -= size;
            callee = cloner.Clone(callee);
            taken.push_back(true);
          }
          taken[static_cast<size_t>(callee)] = true;
          worklist.push_back(callee);
        }
        if (called == site.called()) continue;
        module.mutable_computation(caller).mutable_instruction(id).set_called(
            std::move(called));
        changed = true;
      }
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeFlattenCallGraph() {
  return std::make_unique<FlattenCallGraph>();
}

}  // namespace hone::hlo
