// simplify-while-loops: makes loops smaller, or none.
//
//   while(t), where the condition is false at once      →  t
//   while(t), where it is false after one round         →  body(t), inlined
//   get-tuple-element(while(tuple(…, x, …)), i), where
//     the body hands element i on unchanged             →  x
//   uses of such an element inside the loop, where
//     x is a constant                                   →  the constant
//   elements of the tuple that neither the condition
//     nor anything behind the loop needs, directly or
//     through other elements                            →  removed
//
// Legal because the body's effect on one element can be followed through its
// root tuple; whatever does not fit that form (a parameter used whole, a root
// that is no tuple) is left alone, as are loops that are ends of control
// dependencies and scheduled modules. What an opaque instruction of the body
// uses is needed. A loop that never ends stays one. Loops that share their body
// or condition with another site keep both (use flatten-call-graph first).
//
// Trip counts are found for counters that start from constants.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "hlo/ir/clone.h"
#include "hlo/passes/control_flow/loop_annotation.h"
#include "hlo/passes/control_flow/while_trip_count.h"
#include "hlo/passes/registry.h"
#include "hlo/rewrite/call_sites.h"
#include "hlo/rewrite/dead_code.h"

namespace hone::hlo {
namespace {

// One while whose body and condition have no other caller and take their
// parameter apart, the body to make its result from the elements.
class Loop {
 public:
  Loop(Module& module, ComputationId computation, InstructionId id)
      : module_(module),
        computation_(computation),
        id_(id),
        condition_(outside()[id].called()[0]),
        body_(outside()[id].called()[1]) {}

  bool IsRegular(const std::vector<int>& callers) const {
    return callers[static_cast<size_t>(condition_)] == 1 &&
           callers[static_cast<size_t>(body_)] == 1 &&
           outside()[init()].opcode() == Opcode::kTuple &&
           body()[body().root()].opcode() == Opcode::kTuple &&
           body()[body().root()].users().empty() &&
           UsesElementsOnly(condition(), condition().parameters()[0]) &&
           UsesElementsOnly(body(), body().parameters()[0]) &&
           UsesElementsOnly(outside(), id_);
  }

  // Moves uses of elements that never change to where they come from.
  bool ForwardInvariants() {
    bool changed = false;
    for (int32_t i = 0; i < element_count(); ++i) {
      if (!IsInvariant(i)) continue;
      const InstructionId source =
          outside()[init()].operand(static_cast<size_t>(i));
      changed |= ReplaceElement(computation_, id_, i, source);
      const Instruction& value = outside()[source];
      if (!value.IsConstant() || value.literal()->is_elided()) continue;
      const Instruction constant = value;
      changed |= SinkConstant(body_, i, constant);
      changed |= SinkConstant(condition_, i, constant);
    }
    return changed;
  }

  bool RemoveUnneededElements() {
    const std::vector<bool> needed = NeededElements();
    const auto count = std::count(needed.begin(), needed.end(), true);
    if (count == 0 || count == static_cast<int64_t>(needed.size()) ||
        AnySharded()) {
      return false;
    }
    std::vector<ShapePtr> shapes;
    for (size_t i = 0; i < needed.size(); ++i) {
      if (needed[i]) {
        shapes.push_back(
            outside()[id_].shape().tuple_element(static_cast<int64_t>(i)));
      }
    }
    const ShapePtr shape = Shape::Tuple(std::move(shapes));
    NarrowTuple(body_, body().root(), needed, shape);
    // Nothing of the body may be left that reads an element without a place.
    RemoveDeadInstructions(module_, body_);
    NarrowParameter(body_, needed, shape);
    NarrowParameter(condition_, needed, shape);
    NarrowLoop(needed, shape);
    return true;
  }

 private:
  const Computation& outside() const {
    return module_.computation(computation_);
  }
  const Computation& condition() const {
    return module_.computation(condition_);
  }
  const Computation& body() const { return module_.computation(body_); }
  InstructionId init() const { return outside()[id_].operand(0); }
  int32_t element_count() const {
    return static_cast<int32_t>(outside()[id_].shape().tuple_elements().size());
  }

  // Whether the body hands element i on unchanged.
  bool IsInvariant(int32_t i) const {
    const InstructionId result =
        body()[body().root()].operand(static_cast<size_t>(i));
    const Instruction& element = body()[result];
    return element.opcode() == Opcode::kGetTupleElement &&
           element.index() == i && element.operand(0) == body().parameters()[0];
  }

  // The get-tuple-elements of `tuple` at index i.
  std::vector<InstructionId> ElementReads(ComputationId c, InstructionId tuple,
                                          int32_t i) const {
    const Computation& computation = module_.computation(c);
    std::vector<InstructionId> reads;
    for (InstructionId user : computation[tuple].users()) {
      if (computation[user].index() == i &&
          !computation.HasControlDependency(user)) {
        reads.push_back(user);
      }
    }
    return reads;
  }

  // Replaces element i of `tuple` by `replacement`.
  bool ReplaceElement(ComputationId c, InstructionId tuple, int32_t i,
                      InstructionId replacement) {
    const std::vector<InstructionId> reads = ElementReads(c, tuple, i);
    if (reads.empty()) return false;
    Computation& computation = module_.mutable_computation(c);
    for (InstructionId read : reads) {
      computation.ReplaceAllUses(read, replacement);
      computation.Remove(read);
    }
    return true;
  }

  // Puts the constant in place of element i of the computation's parameter, in
  // the root tuple too: the element is not needed any more.
  bool SinkConstant(ComputationId c, int32_t i, const Instruction& constant) {
    const InstructionId parameter = module_.computation(c).parameters()[0];
    if (ElementReads(c, parameter, i).empty()) return false;
    Instruction copy = constant.WithOperands({});
    const InstructionId value =
        module_.mutable_computation(c).AddInstruction(std::move(copy));
    return ReplaceElement(c, parameter, i, value);
  }

  std::vector<bool> NeededElements() const {
    std::vector<bool> needed(static_cast<size_t>(element_count()), false);
    const Computation& inside = body();
    std::vector<bool> reached(static_cast<size_t>(inside.slot_count()), false);
    std::vector<InstructionId> worklist;
    const auto reach = [&](InstructionId id) {
      if (reached[static_cast<size_t>(id)]) return;
      reached[static_cast<size_t>(id)] = true;
      worklist.push_back(id);
    };
    const auto need = [&](int32_t i) {
      if (needed[static_cast<size_t>(i)]) return;
      needed[static_cast<size_t>(i)] = true;
      reach(inside[inside.root()].operand(static_cast<size_t>(i)));
    };
    for (InstructionId user : outside()[id_].users()) {
      need(outside()[user].index());
    }
    for (InstructionId user :
         condition()[condition().parameters()[0]].users()) {
      need(condition()[user].index());
    }
    for (InstructionId id = 0; id < inside.slot_count(); ++id) {
      if (inside[id].is_live() && (module_.HasSideEffect(inside[id]) ||
                                   inside.HasControlDependency(id))) {
        reach(id);
      }
    }
    while (!worklist.empty()) {
      const Instruction& instruction = inside[worklist.back()];
      worklist.pop_back();
      if (instruction.opcode() == Opcode::kGetTupleElement &&
          instruction.operand(0) == inside.parameters()[0]) {
        need(instruction.index());
        continue;
      }
      for (InstructionId operand : instruction.operands()) reach(operand);
    }
    return needed;
  }

  // A sharding of a tuple has a part per element, in text we do not look into.
  bool AnySharded() const {
    return IsSharded(outside()[id_]) || IsSharded(outside()[init()]) ||
           IsSharded(body()[body().root()]) ||
           IsSharded(body()[body().parameters()[0]]) ||
           IsSharded(condition()[condition().parameters()[0]]);
  }

  static InstructionIds Kept(const InstructionIds& operands,
                             const std::vector<bool>& needed) {
    InstructionIds kept;
    for (size_t i = 0; i < needed.size(); ++i) {
      if (needed[i]) kept.push_back(operands[i]);
    }
    return kept;
  }

  void NarrowTuple(ComputationId c, InstructionId tuple,
                   const std::vector<bool>& needed, const ShapePtr& shape) {
    Computation& computation = module_.mutable_computation(c);
    computation.SetOperands(tuple, Kept(computation[tuple].operands(), needed));
    computation.mutable_instruction(tuple).set_shape(shape);
  }

  // Gives the reads of `tuple` the places that elements have afterwards.
  static void RenumberReads(Computation& computation, InstructionId tuple,
                            const std::vector<bool>& needed) {
    for (InstructionId read : computation[tuple].users()) {
      Instruction& instruction = computation.mutable_instruction(read);
      const auto end = needed.begin() + instruction.index();
      instruction.set_index(
          static_cast<int32_t>(std::count(needed.begin(), end, true)));
    }
  }

  void NarrowParameter(ComputationId c, const std::vector<bool>& needed,
                       const ShapePtr& shape) {
    Computation& computation = module_.mutable_computation(c);
    const InstructionId parameter = computation.parameters()[0];
    computation.mutable_instruction(parameter).set_shape(shape);
    RenumberReads(computation, parameter, needed);
  }

  void NarrowLoop(const std::vector<bool>& needed, const ShapePtr& shape) {
    Computation& computation = module_.mutable_computation(computation_);
    RenumberReads(computation, id_, needed);
    const InstructionId old_init = init();
    const InstructionId new_init = computation.AddInstruction(Instruction(
        Opcode::kTuple, shape, Kept(computation[old_init].operands(), needed),
        computation[old_init].attributes_ptr()));
    computation.ReplaceOperand(id_, 0, new_init);
    Instruction& loop = computation.mutable_instruction(id_);
    loop.set_shape(shape);
    MoveInductionVariable(loop, needed);
    if (computation[old_init].users().empty() &&
        !computation.HasControlDependency(old_init)) {
      computation.RemoveWithUnusedOperands(old_init);
    }
  }

  Module& module_;
  const ComputationId computation_;
  const InstructionId id_;
  const ComputationId condition_;
  const ComputationId body_;
};

bool IsPure(const Module& module, ComputationId id) {
  const Computation& computation = module.computation(id);
  for (InstructionId i = 0; i < computation.slot_count(); ++i) {
    if (computation[i].is_live() && module.HasSideEffect(computation[i])) {
      return false;
    }
  }
  return true;
}

std::vector<InstructionId> FindLoops(const Module& module, ComputationId id) {
  std::vector<InstructionId> loops;
  const Computation& computation = module.computation(id);
  for (InstructionId i = 0; i < computation.slot_count(); ++i) {
    if (computation[i].opcode() == Opcode::kWhile &&
        computation[i].shape().IsTuple() &&
        !computation.HasControlDependency(i)) {
      loops.push_back(i);
    }
  }
  return loops;
}

// One run of the pass.
class Simplifier {
 public:
  explicit Simplifier(Module& module)
      : module_(module),
        callers_(CountCallers(module)),
        budget_(CloningBudget(module)) {}

  bool Run() {
    bool changed = false;
    bool removed = false;
    // Inner loops first.
    for (ComputationId c : module_.ComputationPostOrder()) {
      for (InstructionId id : FindLoops(module_, c)) {
        if (RemoveLoop(c, id)) {
          removed = true;
          continue;
        }
        Loop loop(module_, c, id);
        if (!loop.IsRegular(callers_)) continue;
        changed |= loop.ForwardInvariants();
        changed |= loop.RemoveUnneededElements();
      }
    }
    if (removed) module_.RemoveUnreachableComputations();
    return changed || removed;
  }

 private:
  // Removes a loop that runs less than twice.
  bool RemoveLoop(ComputationId c, InstructionId id) {
    const ComputationIds called = module_.computation(c)[id].called();
    const TripCount trips = FindTripCount(module_, module_.computation(c), id);
    if (trips == TripCount::kOther || !IsPure(module_, called[0])) return false;
    const Computation& body = module_.computation(called[1]);
    if (trips == TripCount::kOne && body.live_count() > budget_) return false;
    Computation& computation = module_.mutable_computation(c);
    InstructionId result = computation[id].operand(0);
    if (trips == TripCount::kOne) {
      budget_ -= body.live_count();
      result = CloneInto(body, {result}, computation);
      AddCallersOf(body, callers_);
    }
    computation.ReplaceAllUses(id, result);
    computation.RemoveWithUnusedOperands(id);
    return true;
  }

  Module& module_;
  // May count callers that have become unreachable.
  std::vector<int> callers_;
  int64_t budget_;
};

class SimplifyWhileLoops final : public Pass {
 public:
  absl::string_view name() const override { return "simplify-while-loops"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    if (module.is_scheduled()) return false;
    return Simplifier(module).Run();
  }
};

}  // namespace

std::unique_ptr<Pass> MakeSimplifyWhileLoops() {
  return std::make_unique<SimplifyWhileLoops>();
}

}  // namespace hone::hlo
