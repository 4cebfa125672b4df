// dce: removes what nothing needs.
//
//   a = f32[2] negate(p)                 (a has no users)
//   ROOT r = f32[2] abs(p)      →        ROOT r = f32[2] abs(p)
//
// and computations that the entry does not reach. A while, call, conditional or
// fusion goes when it has no users and nothing in what it calls is opaque; the
// elements of its tuple are not looked at one by one.
//
// Legal because HLO is pure but for opaque instructions, which stay, as do
// parameters (they are the signature) and ends of control dependencies. Slot
// order is kept, so that a scheduled module may be passed too. Numeric class:
// exact. Always of use; upstream leaves operands to it, our rewrites mostly
// remove theirs at once.

#include <memory>

#include "hlo/passes/registry.h"
#include "hlo/rewrite/dead_code.h"
#include "hlo/rewrite/owned_computations.h"

namespace hone::hlo {
namespace {

class Dce final : public Pass {
 public:
  absl::string_view name() const override { return "dce"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    bool changed = false;
    for (ComputationId id : RewritableComputations(module)) {
      changed |= RemoveDeadInstructions(module, id);
    }
    // After the instructions: a dead call may have been the last one.
    changed |= module.RemoveUnreachableComputations();
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeDce() { return std::make_unique<Dce>(); }

}  // namespace hone::hlo
