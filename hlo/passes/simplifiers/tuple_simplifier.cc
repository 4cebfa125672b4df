// tuple-simplifier: removes tuples that are made to be taken apart, and tuples
// that are taken apart to be made.
//
//   get-tuple-element(tuple(a, b)), index=1                          →  b
//   tuple(get-tuple-element(t), index=0, …, get-tuple-element(t), index=n-1)
//     for all n elements of t                                        →  t
//
// The rules are those of algsimp/structure.cc. Legal always, with dynamic
// shapes too. Numeric class: exact. The root may become the producer of the
// tuple, a while for example.

#include <memory>

#include "hlo/passes/algsimp/rules.h"
#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"

namespace hone::hlo {
namespace {

bool Simplify(Rewriter& r, InstructionId id) {
  return r.Is(id, Opcode::kTuple) ? algsimp::SimplifyTuple(r, id)
                                  : algsimp::SimplifyGetTupleElement(r, id);
}

}  // namespace

std::unique_ptr<Pass> MakeTupleSimplifier() {
  return MakeRulePass({.name = "tuple-simplifier",
                       .opcodes = {Opcode::kGetTupleElement, Opcode::kTuple},
                       .visit = Visit::kFixedPoint,
                       .dynamic = true},
                      Simplify);
}

}  // namespace hone::hlo
