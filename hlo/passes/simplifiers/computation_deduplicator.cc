// computation-deduplicator: keeps one of several computations of equal content.
//
//   a = reduce(p, z), to_apply=add.1         a = reduce(p, z), to_apply=add.1
//   b = reduce(q, z), to_apply=add.2   →     b = reduce(q, z), to_apply=add.1
//
// (add.1 and add.2 both add their parameters; add.2 is removed.) Legal because
// which copy a site calls has no meaning. The number of instructions that run
// stays; the module gets smaller. It undoes flatten-call-graph, so use it after
// passes that specialise bodies. Scheduled modules are left alone.

#include <memory>
#include <utility>

#include "hlo/analysis/structural_equality.h"
#include "hlo/passes/registry.h"

namespace hone::hlo {
namespace {

class ComputationDeduplicator final : public Pass {
 public:
  absl::string_view name() const override { return "computation-deduplicator"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    if (module.is_scheduled()) return false;
    const ComputationClasses classes(module);
    bool changed = false;
    for (ComputationId c = 0; c < module.computation_slots(); ++c) {
      if (!module.has_computation(c)) continue;
      const InstructionId slots = module.computation(c).slot_count();
      for (InstructionId id = 0; id < slots; ++id) {
        const Instruction& site = module.computation(c)[id];
        ComputationIds called = site.called();
        for (ComputationId& callee : called) callee = classes.ClassOf(callee);
        if (called == site.called()) continue;
        module.mutable_computation(c).mutable_instruction(id).set_called(
            std::move(called));
        changed = true;
      }
    }
    if (changed) module.RemoveUnreachableComputations();
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeComputationDeduplicator() {
  return std::make_unique<ComputationDeduplicator>();
}

}  // namespace hone::hlo
