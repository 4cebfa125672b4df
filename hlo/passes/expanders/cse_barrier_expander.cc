// cse_barrier_expander: removes optimization barriers.
//
//   opt-barrier(x)  →  x
//
// Legal always: a barrier computes nothing. It keeps what is on its two sides
// apart, most often a value from its recomputation, which cse would merge
// again; so this goes after the last cse, and after everything else that must
// not see across. What had to run before or after the barrier keeps that order
// only through it, so ends of control dependencies are left alone, as are
// scheduled modules.

#include <memory>
#include <vector>

#include "hlo/passes/registry.h"

namespace hone::hlo {
namespace {

std::vector<InstructionId> FindBarriers(const Computation& computation) {
  std::vector<InstructionId> barriers;
  for (InstructionId id = 0; id < computation.slot_count(); ++id) {
    if (computation[id].is_live() &&
        computation[id].opcode() == Opcode::kOptBarrier &&
        !computation.HasControlDependency(id)) {
      barriers.push_back(id);
    }
  }
  return barriers;
}

class CseBarrierExpander final : public Pass {
 public:
  absl::string_view name() const override { return "cse_barrier_expander"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    if (module.is_scheduled()) return false;
    bool changed = false;
    for (ComputationId c = 0; c < module.computation_slots(); ++c) {
      if (!module.has_computation(c)) continue;
      const std::vector<InstructionId> barriers =
          FindBarriers(module.computation(c));
      if (barriers.empty()) continue;
      Computation& computation = module.mutable_computation(c);
      for (InstructionId id : barriers) {
        computation.ReplaceAllUses(id, computation[id].operand(0));
        computation.Remove(id);
      }
      changed = true;
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeCseBarrierExpander() {
  return std::make_unique<CseBarrierExpander>();
}

}  // namespace hone::hlo
