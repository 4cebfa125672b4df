// simplify-while-loops: makes loops smaller, or none.
//
//   while(t), where the condition is false at once      →  t
//   while(t), where it is false after one iteration     →  body(t), inlined
//   get-tuple-element(while(tuple(…, x, …)), i), where
//     the body hands element i on unchanged             →  x
//   uses of such an element inside the loop, where
//     x is a constant                                   →  the constant
//   elements of the tuple that neither the condition
//     nor anything behind the loop needs, directly or
//     through other elements                            →  removed
//
// Stronger than upstream's: an element that needs only itself and such others
// goes, and so do the reads and sums that were made for it.
//
// Exact. Legal because the body's effect on one element can be followed through
// its root tuple; whatever does not fit that form (a parameter used whole, a
// root that is no tuple) is left alone, as are loops that are ends of control
// dependencies and scheduled modules. What an opaque instruction of the body
// uses is needed, and so is what the condition reads: a loop that never ends
// stays one, unless nothing uses its result any more and it has no effect.
// Loops that share their body or condition with another site keep both (use
// flatten-call-graph first).
//
// Trip counts are found for counters that start from constants.

#include <algorithm>
#include <memory>
#include <vector>

#include "hlo/ir/id_map.h"
#include "hlo/passes/control_flow/sink_constant.h"
#include "hlo/passes/control_flow/while_trip_count.h"
#include "hlo/passes/registry.h"
#include "hlo/rewrite/callees.h"
#include "hlo/rewrite/driver.h"
#include "hlo/rewrite/tuples/elements.h"
#include "hlo/rewrite/tuples/loop_rewriter.h"

namespace hone::hlo {
namespace {

bool IsPure(const Module& module, const Computation& computation) {
  const auto instructions = computation.instructions();
  return std::none_of(instructions.begin(), instructions.end(),
                      [&](const Instruction& instruction) {
                        return module.HasSideEffect(instruction);
                      });
}

// Removes a loop that runs less than twice.
bool RemoveLoop(Rewriter& r, InstructionId id, Callees& callees) {
  const TripCount trips = FindTripCount(r.module(), r.computation(), id);
  if (trips == TripCount::kOther ||
      !IsPure(r.module(), r.module().computation(r[id].called()[0]))) {
    return false;
  }
  const InstructionId init = r.operand(id, 0);
  return trips == TripCount::kOne
             ? callees.Inline(r, id, 1, {init})
             : callees.ReplaceSite(r, id, init, /*is_new=*/false);
}

// Replaces the reads of element `i` of `tuple` by `value`; returns true if
// there were any.
bool ReplaceReads(Rewriter& r, InstructionId tuple, int32_t i,
                  InstructionId value) {
  bool changed = false;
  for (InstructionId read : LoopRewriter::Reads(r, tuple, i)) {
    if (!r.MayReplace(read, /*dynamic=*/true) ||
        !Shape::Equal(r.shape(read), r.shape(value))) {
      continue;
    }
    changed |= r.Replace(read, value);
  }
  return changed;
}

// Moves uses of elements that never change to where they come from.
bool ForwardInvariants(LoopRewriter& loop) {
  Rewriter& r = loop.outside();
  bool changed = false;
  for (int32_t i = 0; i < loop.element_count(); ++i) {
    if (!loop.HandsOn(i)) continue;
    const InstructionId source = r.operand(loop.init(), static_cast<size_t>(i));
    changed |= SinkConstant(loop, i, /*keeps_element=*/false);
    changed |= ReplaceReads(r, loop.id(), i, source);
    // Without a use of its result the loop may be gone.
    if (!r.computation().Contains(loop.id())) break;
  }
  return changed;
}

// Marks the elements that the condition, the users of the result or effects
// need, directly or through other elements.
std::vector<bool> NeededElements(const LoopRewriter& loop,
                                 const Rewriter& outside,
                                 const Rewriter& condition) {
  const Computation& body = loop.body().computation();
  std::vector<bool> needed = ReadElements(outside.computation(), loop.id());
  const std::vector<bool> conditional =
      ReadElements(condition.computation(), loop.condition_state());
  IdMap<bool> reached;
  std::vector<InstructionId> worklist;
  const auto reach = [&](InstructionId id) {
    if (reached.at(id)) return;
    reached[id] = true;
    worklist.push_back(id);
  };
  const auto need = [&](size_t i) {
    needed[i] = true;
    reach(body[body.root()].operand(i));
  };
  for (size_t i = 0; i < needed.size(); ++i) {
    if (needed[i] || conditional[i]) need(i);
  }
  for (const Instruction& instruction : body.instructions()) {
    const InstructionId id = instruction.id();
    if (outside.module().HasSideEffect(instruction) ||
        (body.HasControlDependency(id) && id != body.root())) {
      reach(id);
    }
  }
  while (!worklist.empty()) {
    const Instruction& instruction = body[worklist.back()];
    worklist.pop_back();
    if (loop.IsRead(instruction.id())) {
      need(static_cast<size_t>(instruction.index()));
      continue;
    }
    for (InstructionId operand : instruction.operands()) reach(operand);
  }
  return needed;
}

bool RemoveUnneededElements(LoopRewriter& loop) {
  const std::vector<bool> needed =
      NeededElements(loop, loop.outside(), loop.condition());
  const auto count = std::count(needed.begin(), needed.end(), true);
  if (count == 0 || count == static_cast<int64_t>(needed.size()) ||
      !loop.MayRemoveElements(needed)) {
    return false;
  }
  loop.RemoveElements(needed);
  return true;
}

bool Simplify(Rewriter& r, InstructionId id, Callees& callees) {
  if (!r.shape(id).IsTuple() || r.computation().HasControlDependency(id)) {
    return false;
  }
  if (RemoveLoop(r, id, callees)) return true;
  LoopRewriter loop(r, id);
  if (!callees.AreOwn(r[id]) || !r.Is(loop.init(), Opcode::kTuple) ||
      !loop.TakesStateApart() || !UsesElementsOnly(r.computation(), id)) {
    return false;
  }
  bool changed = ForwardInvariants(loop);
  if (r.computation().Contains(id)) changed |= RemoveUnneededElements(loop);
  loop.Finish();
  return changed;
}

class SimplifyWhileLoops final : public Pass {
 public:
  absl::string_view name() const override { return "simplify-while-loops"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& options) const override {
    // Inner loops first.
    const RewriteRule rule = {.name = name(),
                              .opcodes = {Opcode::kWhile},
                              .call_order = CallOrder::kCalleesFirst,
                              .checks_itself = true,
                              .drops_callees = true};
    Callees callees(module);
    return RewriteModule(module, rule, options,
                         [&](Rewriter& r, InstructionId id) {
                           return Simplify(r, id, callees);
                         });
  }
};

}  // namespace

std::unique_ptr<Pass> MakeSimplifyWhileLoops() {
  return std::make_unique<SimplifyWhileLoops>();
}

}  // namespace hone::hlo
