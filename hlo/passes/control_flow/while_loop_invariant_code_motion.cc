// while-loop-invariant-code-motion: computes once, in front of a loop, what
// each round computes anew.
//
//   body: y = f(get-tuple-element(t, i)), element i handed on unchanged
//     →  y = f(x) outside, x the initial element i; the loop's tuple gets y as
//     a
//        new element, which the body reads in place of computing it
//
// Operations of no or little cost (broadcast, iota, reshape, slice, transpose,
// …) and constants come along with what uses them, but not alone: in the body
// they can be simplified and fused. Loops through which nothing is handed on
// unchanged are left alone.
//
// Legal for instructions without effect or control dependency whose operands
// are the same in every round; it needs a body and condition that take their
// parameter apart. Computations with another caller are copied. Not for loops
// that run at most once (they would only get larger), loops that say so
// (frontend_attributes _xla_disable_loop_instr_hoisting), sharded tuples, ends
// of control dependencies and scheduled modules. What is moved lives as long as
// the loop runs.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/match.h"

#include "hlo/ir/clone.h"
#include "hlo/passes/control_flow/while_trip_count.h"
#include "hlo/passes/registry.h"
#include "hlo/rewrite/call_sites.h"
#include "hlo/rewrite/dead_code.h"

namespace hone::hlo {
namespace {

bool SaysNotHoistable(const Attributes& attributes) {
  return std::any_of(
      attributes.others.begin(), attributes.others.end(), [](const auto& a) {
        return a.first == "frontend_attributes" &&
               absl::StrContains(a.second, "_xla_disable_loop_instr_hoisting");
      });
}

bool IsTargetOf(const Instruction& instruction, absl::string_view target) {
  return instruction.opcode() == Opcode::kCustomCall &&
         instruction.attributes().custom_call_target == target;
}

// Whether the instruction binds the body to the loop, so that nothing moves.
bool PinsBody(const Instruction& instruction) {
  return instruction.opcode() == Opcode::kDomain ||
         IsTargetOf(instruction, "SPMDFullToShardShape") ||
         IsTargetOf(instruction, "SPMDShardShapeToFull") ||
         IsTargetOf(instruction, "annotate_device_placement") ||
         IsTargetOf(instruction, "MoveToDevice") ||
         IsTargetOf(instruction, "MoveToHost");
}

// Whether the instruction is moved only with one that uses it.
bool MovesWithAUserOnly(Opcode opcode) {
  switch (opcode) {
    case Opcode::kBitcast:
    case Opcode::kBroadcast:
    case Opcode::kConstant:
    case Opcode::kIota:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kTranspose:
    case Opcode::kTuple:
      return true;
    default:
      return false;
  }
}

// What becomes of an instruction of the body.
enum class Fate : uint8_t {
  kStays,
  // The same in every round, and copied outside if something moved uses it.
  kAvailable,
  kMoves,
};

// One while and the plan for its body.
class Loop {
 public:
  Loop(Module& module, ComputationId computation, InstructionId id)
      : module_(module),
        computation_(computation),
        id_(id),
        condition_(outside()[id].called()[0]),
        body_(outside()[id].called()[1]) {}

  // Finds out what can move; returns whether there is anything.
  bool Plan() {
    const Computation& inside = body();
    if (!IsRegular() || !HandsOnAnArray()) return false;
    for (InstructionId id = 0; id < inside.slot_count(); ++id) {
      if (inside[id].is_live() && PinsBody(inside[id])) return false;
    }
    fates_.assign(static_cast<size_t>(inside.slot_count()), Fate::kStays);
    order_ = inside.PostOrder();
    bool any = false;
    for (InstructionId id : order_) {
      const Fate fate = FateOf(id);
      fates_[static_cast<size_t>(id)] = fate;
      any |= fate == Fate::kMoves;
    }
    return any && FindTripCount(module_, outside(), id_) == TripCount::kOther;
  }

  // Carries out the plan.
  void Move(std::vector<int>& callers) {
    OwnCallees(callers);
    TakeResultApart();
    const std::vector<InstructionId> copies = CopyOutside();
    Widen(MovedAndStillUsed(), copies);
    RemoveDeadInstructions(module_, body_);
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
  InstructionId parameter() const { return body().parameters()[0]; }
  Fate fate(InstructionId id) const { return fates_[static_cast<size_t>(id)]; }

  bool IsRegular() const {
    const Computation& inside = body();
    return outside()[id_].shape().IsTuple() &&
           !outside().HasControlDependency(id_) &&
           !SaysNotHoistable(outside()[id_].attributes()) &&
           inside[inside.root()].opcode() == Opcode::kTuple &&
           inside[inside.root()].users().empty() &&
           UsesElementsOnly(inside, parameter()) &&
           UsesElementsOnly(condition(), condition().parameters()[0]) &&
           !IsSharded(outside()[id_]) && !IsSharded(outside()[init()]) &&
           !IsSharded(inside[inside.root()]) &&
           !IsSharded(inside[parameter()]) &&
           !IsSharded(condition()[condition().parameters()[0]]);
  }

  // Whether `id` reads an array that the body hands on unchanged.
  bool IsInvariantElement(InstructionId id) const {
    const Instruction& read = body()[id];
    if (read.opcode() != Opcode::kGetTupleElement ||
        read.operand(0) != parameter() || !read.shape().IsArray()) {
      return false;
    }
    const Instruction& result = body()[body()[body().root()].operand(
        static_cast<size_t>(read.index()))];
    return result.opcode() == Opcode::kGetTupleElement &&
           result.index() == read.index() && result.operand(0) == parameter();
  }

  bool HandsOnAnArray() const {
    const InstructionIds& reads = body()[parameter()].users();
    return std::any_of(reads.begin(), reads.end(), [&](InstructionId id) {
      return IsInvariantElement(id);
    });
  }

  // Of an instruction whose operands have their fates.
  Fate FateOf(InstructionId id) const {
    const Instruction& instruction = body()[id];
    if (IsInvariantElement(id)) return Fate::kAvailable;
    if (instruction.opcode() == Opcode::kParameter ||
        module_.HasSideEffect(instruction) || body().HasControlDependency(id) ||
        std::any_of(instruction.operands().begin(),
                    instruction.operands().end(), [&](InstructionId operand) {
                      return fate(operand) == Fate::kStays;
                    })) {
      return Fate::kStays;
    }
    return MovesWithAUserOnly(instruction.opcode()) ? Fate::kAvailable
                                                    : Fate::kMoves;
  }

  // What moves and is used by something that stays for good: not only by what
  // is copied outside and then dead here.
  std::vector<InstructionId> MovedAndStillUsed() const {
    std::vector<bool> stays(fates_.size(), false);
    std::vector<InstructionId> moved;
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      const InstructionIds& users = body()[*it].users();
      const bool used = std::any_of(
          users.begin(), users.end(),
          [&](InstructionId user) { return stays[static_cast<size_t>(user)]; });
      if (fate(*it) == Fate::kMoves) {
        if (used) moved.push_back(*it);
        continue;
      }
      stays[static_cast<size_t>(*it)] =
          used || *it == body().root() || fate(*it) == Fate::kStays;
    }
    std::reverse(moved.begin(), moved.end());
    return moved;
  }

  // Sees to it that nothing else calls the body and condition.
  void OwnCallees(std::vector<int>& callers) {
    Own(condition_, callers);
    Own(body_, callers);
    Computation& computation = module_.mutable_computation(computation_);
    computation.mutable_instruction(id_).set_called({condition_, body_});
  }

  void Own(ComputationId& callee, std::vector<int>& callers) {
    if (callers[static_cast<size_t>(callee)] == 1) return;
    --callers[static_cast<size_t>(callee)];
    callee = ComputationCloner(module_).Clone(callee);
    callers.resize(static_cast<size_t>(module_.computation_slots()), 0);
    callers[static_cast<size_t>(callee)] = 1;
    AddCallersOf(module_.computation(callee), callers);
  }

  // Where something uses the loop's result whole, puts a tuple of its elements
  // in between.
  void TakeResultApart() {
    if (UsesElementsOnly(outside(), id_)) return;
    Computation& computation = module_.mutable_computation(computation_);
    const Instruction& loop = computation[id_];
    const InstructionId copy =
        computation.AddInstruction(loop.WithOperands(loop.operands()));
    InstructionIds elements;
    int32_t i = 0;
    for (const ShapePtr& shape : loop.shape().tuple_elements()) {
      elements.push_back(computation.AddInstruction(
          Instruction::GetTupleElement(shape, copy, i++)));
    }
    computation.ReplaceWithNew(
        id_, Instruction(Opcode::kTuple, loop.shape_ptr(), elements));
    id_ = copy;
  }

  // Copies what moves, and what that needs, in front of the loop; returns the
  // copies by the id of the original.
  std::vector<InstructionId> CopyOutside() {
    const Computation& inside = body();
    std::vector<bool> needed(fates_.size(), false);
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      if (fate(*it) == Fate::kMoves) needed[static_cast<size_t>(*it)] = true;
      if (!needed[static_cast<size_t>(*it)]) continue;
      for (InstructionId operand : inside[*it].operands()) {
        needed[static_cast<size_t>(operand)] = true;
      }
    }
    Computation& target = module_.mutable_computation(computation_);
    std::vector<InstructionId> copies(fates_.size(), kNoInstruction);
    for (InstructionId id : order_) {
      if (!needed[static_cast<size_t>(id)] || id == parameter()) continue;
      InstructionId& copy = copies[static_cast<size_t>(id)];
      if (IsInvariantElement(id)) {
        copy = InitialElement(inside[id].index());
        continue;
      }
      InstructionIds operands;
      for (InstructionId operand : inside[id].operands()) {
        operands.push_back(copies[static_cast<size_t>(operand)]);
      }
      copy = target.AddInstruction(inside[id].WithOperands(operands));
    }
    return copies;
  }

  InstructionId InitialElement(int32_t i) {
    Computation& computation = module_.mutable_computation(computation_);
    const Instruction& tuple = computation[init()];
    if (tuple.opcode() == Opcode::kTuple) {
      return tuple.operand(static_cast<size_t>(i));
    }
    return computation.AddInstruction(Instruction::GetTupleElement(
        tuple.shape().tuple_element(i), init(), i));
  }

  // Adds the `moved` instructions to the loop's tuple, where the body finds
  // them.
  void Widen(const std::vector<InstructionId>& moved,
             const std::vector<InstructionId>& copies) {
    std::vector<ShapePtr> shapes = outside()[id_].shape().tuple_elements();
    const auto old_count = static_cast<int32_t>(shapes.size());
    InstructionIds initial;
    for (int32_t i = 0; i < old_count; ++i)
      initial.push_back(InitialElement(i));
    for (InstructionId id : moved) {
      shapes.push_back(body()[id].shape_ptr());
      initial.push_back(copies[static_cast<size_t>(id)]);
    }
    const ShapePtr shape = Shape::Tuple(std::move(shapes));

    Computation& inside = module_.mutable_computation(body_);
    inside.mutable_instruction(parameter()).set_shape(shape);
    InstructionIds results = inside[inside.root()].operands();
    int32_t element = old_count;
    for (InstructionId id : moved) {
      const InstructionId read =
          inside.AddInstruction(Instruction::GetTupleElement(
              inside[id].shape_ptr(), parameter(), element++));
      for (InstructionId& result : results) {
        if (result == id) result = read;
      }
      inside.ReplaceAllUses(id, read);
      results.push_back(read);
    }
    inside.SetOperands(inside.root(), results);
    inside.mutable_instruction(inside.root()).set_shape(shape);

    Computation& condition = module_.mutable_computation(condition_);
    condition.mutable_instruction(condition.parameters()[0]).set_shape(shape);

    Computation& computation = module_.mutable_computation(computation_);
    const InstructionId old_init = init();
    computation.ReplaceOperand(id_, 0,
                               computation.AddInstruction(Instruction(
                                   Opcode::kTuple, shape, initial)));
    computation.mutable_instruction(id_).set_shape(shape);
    if (computation[old_init].users().empty() &&
        computation[old_init].opcode() == Opcode::kTuple &&
        !computation.HasControlDependency(old_init)) {
      computation.Remove(old_init);
    }
  }

  Module& module_;
  const ComputationId computation_;
  InstructionId id_;
  ComputationId condition_;
  ComputationId body_;
  std::vector<InstructionId> order_;
  // By id in the body.
  std::vector<Fate> fates_;
};

class WhileLoopInvariantCodeMotion final : public Pass {
 public:
  absl::string_view name() const override {
    return "while-loop-invariant-code-motion";
  }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    if (module.is_scheduled()) return false;
    bool changed = false;
    std::vector<int> callers;
    // Inner loops first: what leaves one may leave the next.
    for (ComputationId c : module.ComputationPostOrder()) {
      const InstructionId slots = module.computation(c).slot_count();
      for (InstructionId id = 0; id < slots; ++id) {
        const Instruction& loop = module.computation(c)[id];
        if (!loop.is_live() || loop.opcode() != Opcode::kWhile) continue;
        Loop plan(module, c, id);
        if (!plan.Plan()) continue;
        if (callers.empty()) callers = CountCallers(module);
        plan.Move(callers);
        changed = true;
      }
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeWhileLoopInvariantCodeMotion() {
  return std::make_unique<WhileLoopInvariantCodeMotion>();
}

}  // namespace hone::hlo
