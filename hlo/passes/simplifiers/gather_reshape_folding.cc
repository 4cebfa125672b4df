// gather-reshape-folding: lets gathers and scatters absorb reshapes.
//
//   gather(x, reshape(i))      →  gather(x, i)
//   scatter(x, reshape(i), u)  →  scatter(x, i, u)
//   scatter(x, i, reshape(u))  →  scatter(x, i, u)
//
// The rules, and when they are legal, are those of algsimp/gather_scatter.cc.
// Numeric class: exact. They undo the normal form of gather_simplifier and
// scatter_simplifier, with which this must not share a loop. Hone's own:
// upstream has no such rewrite.

#include <memory>

#include "hlo/passes/algsimp/rules.h"
#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"

namespace hone::hlo {
namespace {

bool Fold(Rewriter& r, InstructionId id) {
  return r.Is(id, Opcode::kGather) ? algsimp::SimplifyGather(r, id)
                                   : algsimp::SimplifyScatter(r, id);
}

}  // namespace

std::unique_ptr<Pass> MakeGatherReshapeFolding() {
  return MakeRulePass({.name = "gather-reshape-folding",
                       .opcodes = {Opcode::kGather, Opcode::kScatter},
                       .visit = Visit::kFixedPoint},
                      Fold);
}

}  // namespace hone::hlo
