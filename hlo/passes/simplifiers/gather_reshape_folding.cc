// gather-reshape-folding: lets gathers and scatters absorb reshapes.
//
//   gather(x, reshape(i))      →  gather(x, i)
//   scatter(x, reshape(i), u)  →  scatter(x, i, u)
//   scatter(x, i, reshape(u))  →  scatter(x, i, u)
//
// The rules, and when they are legal, are those of algsimp/indexing.cc. They
// undo the normal form of gather_simplifier and scatter_simplifier, with which
// this must not share a loop. Hone's own: upstream has no such rewrite. Not for
// ends of control dependencies and scheduled modules.

#include <memory>

#include "hlo/passes/algsimp/rules.h"
#include "hlo/passes/registry.h"
#include "hlo/rewrite/rewrite_each.h"

namespace hone::hlo {
namespace {

bool Fold(Rewriter& r, InstructionId id) {
  switch (r[id].opcode()) {
    case Opcode::kGather:
      return MayRewrite(r, id) && algsimp::SimplifyGather(r, id);
    case Opcode::kScatter:
      return MayRewrite(r, id) && algsimp::SimplifyScatter(r, id);
    default:
      return false;
  }
}

class GatherReshapeFolding final : public Pass {
 public:
  absl::string_view name() const override { return "gather-reshape-folding"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    return RewriteToFixedPoint(module, Fold);
  }
};

}  // namespace

std::unique_ptr<Pass> MakeGatherReshapeFolding() {
  return std::make_unique<GatherReshapeFolding>();
}

}  // namespace hone::hlo
