// while-loop-invariant-code-motion: computes once, in front of a loop, what
// each iteration computes anew.
//
//   body: y = f(get-tuple-element(t, i)), element i handed on unchanged
//     →  y = f(x) outside, x the initial element i; the loop's tuple gets y as
//        a new element, which the body reads in place of computing it
//
// Operations of no or little cost (broadcast, iota, reshape, slice, transpose,
// …) and constants come along with what uses them, but not alone: in the body
// they can be simplified and fused. Loops through which nothing is handed on
// unchanged are left alone.
//
// Stronger than upstream's: users read the longer tuple, where upstream makes
// the old one anew.
//
// Exact. Legal for instructions without effect or control dependency that
// surely end (the loop may not run at all, so loops inside it move only if
// their trip count is known) and whose operands are the same in every
// iteration; it needs a body and condition that take their parameter apart.
// Computations with another caller are copied. Not for loops that run at most
// once (they would only get larger), loops that say so (frontend_attributes
// _xla_disable_loop_instr_hoisting), tuples with a sharding per element, ends
// of control dependencies and scheduled modules. What is moved lives as long as
// the loop runs; like upstream's pass by default, this one sets no limit to its
// size.

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/algorithm/container.h"

#include "base/status_macros.h"
#include "hlo/ir/id_map.h"
#include "hlo/passes/control_flow/loop_invariants.h"
#include "hlo/passes/control_flow/while_trip_count.h"
#include "hlo/passes/registry.h"
#include "hlo/rewrite/callees.h"
#include "hlo/rewrite/carried_attributes.h"
#include "hlo/rewrite/dead_code.h"
#include "hlo/rewrite/driver.h"
#include "hlo/rewrite/makers.h"
#include "hlo/rewrite/tuples/elements.h"
#include "hlo/rewrite/tuples/loop_rewriter.h"

namespace hone::hlo {
namespace {

bool SaysNotHoistable(const Instruction& loop) {
  const std::optional<FrontendEntries> frontend = FrontendAttributes(loop);
  return !frontend.has_value() ||
         absl::c_any_of(*frontend, [](const auto& entry) {
           return entry.first == "_xla_disable_loop_instr_hoisting";
         });
}

bool IsRegular(LoopRewriter& loop) {
  const Rewriter& r = loop.outside();
  return r.shape(loop.id()).IsTuple() &&
         !r.computation().HasControlDependency(loop.id()) &&
         !SaysNotHoistable(r[loop.id()]) && loop.TakesStateApart() &&
         loop.MayAddElements();
}

// Computes what moves in front of the loop, whose condition and body have no
// other caller, and adds elements for what the body still uses of it.
void Move(LoopRewriter& loop, const LoopInvariants& invariants) {
  loop.TakeResultApart();
  Rewriter& r = loop.outside();
  Rewriter& body = loop.body();
  IdMap<InstructionId> copies(kNoInstruction);
  for (InstructionId id : invariants.Copied()) {
    if (invariants.IsElement(id)) {
      const auto element = static_cast<size_t>(body[id].index());
      copies[id] = ElementOf(r, loop.init(), element);
      continue;
    }
    InstructionIds operands;
    for (InstructionId operand : body[id].operands()) {
      operands.push_back(copies.at(operand));
    }
    copies[id] = r.AddCopy(body[id].WithOperands(operands));
  }
  const InstructionIds moved = invariants.StillUsed();
  InstructionIds initial;
  for (InstructionId id : moved) initial.push_back(copies.at(id));
  const InstructionIds reads = loop.AddElements(initial);
  for (size_t i = 0; i < reads.size(); ++i)
    body.ReplaceUses(moved[i], reads[i]);
  RemoveDeadInstructions(body);
}

class WhileLoopInvariantCodeMotion final : public Pass {
 public:
  absl::string_view name() const override {
    return "while-loop-invariant-code-motion";
  }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& options) const override {
    // Inner loops first: what leaves one may leave the next.
    const RewriteRule rule = {.name = name(),
                              .opcodes = {Opcode::kWhile},
                              .call_order = CallOrder::kCalleesFirst,
                              .checks_itself = true};
    Callees callees(module);
    const auto rewrite = [&](Rewriter& r, InstructionId id) {
      LoopRewriter loop(r, id);
      if (!IsRegular(loop)) return false;
      const LoopInvariants invariants(loop);
      if (!invariants.any() ||
          FindTripCount(module, r.computation(), id) != TripCount::kOther) {
        return false;
      }
      if (!loop.OwnCallees(callees)) return false;
      Move(loop, invariants);
      loop.Finish();
      return true;
    };
    return RewriteModule(module, rule, options, rewrite);
  }
};

}  // namespace

std::unique_ptr<Pass> MakeWhileLoopInvariantCodeMotion() {
  return std::make_unique<WhileLoopInvariantCodeMotion>();
}

}  // namespace hone::hlo
