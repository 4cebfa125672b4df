// computation-deduplicator: keeps one of several computations of equal content.
//
//   a = reduce(p, z), to_apply=add.1         a = reduce(p, z), to_apply=add.1
//   b = reduce(q, z), to_apply=add.2   →     b = reduce(q, z), to_apply=add.1
//
// (add.1 and add.2 both add their parameters; add.2 is removed.) Legal because
// which copy a site calls has no meaning, but for fusions and asynchronous
// operations, which keep their own. Numeric class: exact. The number of
// instructions that run stays; the module gets smaller. Undoes
// flatten-call-graph: to be used after passes that specialize bodies. Scheduled
// modules are left alone.

#include <memory>
#include <utility>

#include "hlo/analysis/structural_equality.h"
#include "hlo/ir/id_map.h"
#include "hlo/passes/registry.h"
#include "hlo/rewrite/driver.h"
#include "hlo/rewrite/owned_computations.h"

namespace hone::hlo {
namespace {

class ComputationDeduplicator final : public Pass {
 public:
  absl::string_view name() const override { return "computation-deduplicator"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& options) const override {
    if (module.is_scheduled()) return false;
    const ComputationClasses classes(module);
    // The computation that stands for each of them, itself if it is owned.
    IdMap<ComputationId> kept(kNoComputation);
    IdMap<ComputationId> first(kNoComputation);  // of a class
    for (ComputationId id : RewritableComputations(module)) {
      ComputationId& of_class = first[classes.ClassOf(id)];
      if (of_class == kNoComputation) of_class = id;
      kept[id] = of_class;
    }
    // Nothing is replaced but names, whoever calls: hence checks_itself.
    const RewriteRule rule = {
        .name = name(), .checks_itself = true, .drops_callees = true};
    return RewriteModule(module, rule, options,
                         [&](Rewriter& r, InstructionId id) {
                           if (OwnsCallees(r[id].opcode())) return false;
                           ComputationIds called = r[id].called();
                           for (ComputationId& callee : called) {
                             if (kept.at(callee) == kNoComputation) continue;
                             callee = kept.at(callee);
                           }
                           if (called == r[id].called()) return false;
                           r.SetCalled(id, std::move(called));
                           return true;
                         });
  }
};

}  // namespace

std::unique_ptr<Pass> MakeComputationDeduplicator() {
  return std::make_unique<ComputationDeduplicator>();
}

}  // namespace hone::hlo
