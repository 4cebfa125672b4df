// simplify-conditional: removes conditionals, or makes them smaller.
//
//   conditional(constant, …), or one with a single branch  →  that branch,
//                                                             inlined
//   conditional(i, x, x), every branch the same computation  →  inlined
//   conditional(p, x, y) of two cheap branches       →  select(p, f(x), g(y)),
//                                                       inlined
//   elements of the result that nothing reads        →  removed
//   elements that are equal in every branch          →  the first of them
//   elements of an operand that its branch does not read  →  removed
//   a result that nothing uses, kept for an effect   →  an empty tuple
//
// Cheap are elementwise operations and those that move data; but a branch that
// only hands its operand on stays one, for not running is faster than
// selecting. A branch with another caller is copied before it changes.
//
// Legal always; of conditionals with effects only the elements are removed.
// Not for sharded ones, ends of control dependencies and scheduled modules, nor
// beyond the CloningBudget.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "hlo/ir/clone.h"
#include "hlo/passes/registry.h"
#include "hlo/rewrite/builder.h"
#include "hlo/rewrite/call_sites.h"
#include "hlo/rewrite/dead_code.h"

namespace hone::hlo {
namespace {

bool IsExpensive(Opcode opcode) {
  switch (opcode) {
    case Opcode::kBroadcast:
    case Opcode::kConcatenate:
    case Opcode::kConstant:
    case Opcode::kDynamicSlice:
    case Opcode::kGetTupleElement:
    case Opcode::kPad:
    case Opcode::kParameter:
    case Opcode::kReduce:
    case Opcode::kReshape:
    case Opcode::kSlice:
    case Opcode::kTuple:
      return false;
    default:
      return !IsElementwise(opcode);
  }
}

bool IsCheap(const Computation& branch) {
  if (branch.has_control_dependencies()) return false;
  for (InstructionId id = 0; id < branch.slot_count(); ++id) {
    if (branch[id].is_live() && IsExpensive(branch[id].opcode())) return false;
  }
  return true;
}

// Whether the branch computes nothing.
bool HandsOperandOn(const Computation& branch) {
  for (InstructionId id = 0; id < branch.slot_count(); ++id) {
    const Opcode opcode = branch[id].opcode();
    if (branch[id].is_live() && opcode != Opcode::kTuple &&
        opcode != Opcode::kGetTupleElement && opcode != Opcode::kParameter) {
      return false;
    }
  }
  return true;
}

// Whether the shape has arrays only, however nested.
bool HasArraysOnly(const Shape& shape) {
  if (!shape.IsTuple()) return shape.IsArray();
  return std::all_of(
      shape.tuple_elements().begin(), shape.tuple_elements().end(),
      [](const ShapePtr& element) { return HasArraysOnly(*element); });
}

// Element i of a tuple, without reading it where the tuple is made.
InstructionId ElementOf(Computation& computation, InstructionId tuple,
                        size_t i) {
  const Instruction& instruction = computation[tuple];
  if (instruction.opcode() == Opcode::kTuple) return instruction.operand(i);
  return computation.AddInstruction(Instruction::GetTupleElement(
      instruction.shape().tuple_elements()[i], tuple, static_cast<int32_t>(i)));
}

// A tuple of the elements that are needed of `tuple`.
InstructionId NarrowedTuple(Computation& computation, InstructionId tuple,
                            const std::vector<bool>& needed) {
  InstructionIds elements;
  std::vector<ShapePtr> shapes;
  for (size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i]) continue;
    elements.push_back(ElementOf(computation, tuple, i));
    shapes.push_back(computation[elements.back()].shape_ptr());
  }
  return computation.AddInstruction(
      Instruction(Opcode::kTuple, Shape::Tuple(std::move(shapes)), elements));
}

// Gives the get-tuple-elements of `tuple` the places that elements have when
// only the needed ones are left.
void RenumberReads(Computation& computation, InstructionId tuple,
                   const std::vector<bool>& needed) {
  for (InstructionId read : computation[tuple].users()) {
    Instruction& instruction = computation.mutable_instruction(read);
    const auto end = needed.begin() + instruction.index();
    instruction.set_index(
        static_cast<int32_t>(std::count(needed.begin(), end, true)));
  }
}

// Which elements of `tuple` are read.
std::vector<bool> ReadElements(const Computation& computation,
                               InstructionId tuple) {
  std::vector<bool> read(computation[tuple].shape().tuple_elements().size());
  for (InstructionId user : computation[tuple].users()) {
    read[static_cast<size_t>(computation[user].index())] = true;
  }
  return read;
}

bool All(const std::vector<bool>& values) {
  return std::all_of(values.begin(), values.end(), [](bool v) { return v; });
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
    // Callees first, so that branches are simple before they are copied.
    for (ComputationId c : module_.ComputationPostOrder()) {
      c_ = c;
      const InstructionId slots = here().slot_count();
      for (InstructionId id = 0; id < slots; ++id) {
        if (!here()[id].is_live() ||
            here()[id].opcode() != Opcode::kConditional ||
            IsSharded(here()[id]) || here().HasControlDependency(id)) {
          continue;
        }
        changed |= Simplify(id);
      }
    }
    if (changed) module_.RemoveUnreachableComputations();
    return changed;
  }

 private:
  const Computation& here() const { return module_.computation(c_); }
  Computation& Mutable() { return module_.mutable_computation(c_); }
  const Computation& branch(InstructionId id, size_t i) const {
    return module_.computation(here()[id].called()[i]);
  }
  size_t branch_count(InstructionId id) const {
    return here()[id].called().size();
  }

  bool Simplify(InstructionId id) {
    if (!module_.HasSideEffect(here()[id]) && Remove(id)) return true;
    bool changed = MergeEqualElements(id);
    changed |= RemoveUnreadElements(id);
    changed |= EmptyUnusedResult(id);
    for (size_t i = 0; i < branch_count(id); ++i) {
      changed |= RemoveUnreadOperandElements(id, i);
    }
    return changed;
  }

  bool Remove(InstructionId id) {
    if (const std::optional<size_t> taken = TakenBranch(id)) {
      return Inline(id, *taken);
    }
    const Instruction& conditional = here()[id];
    if (branch_count(id) != 2 ||
        KindOf(here()[conditional.operand(0)].shape().element_type()) !=
            ElementKind::kPred ||
        !HasArraysOnly(conditional.shape()) || !IsCheap(branch(id, 0)) ||
        !IsCheap(branch(id, 1)) || HandsOperandOn(branch(id, 0)) ||
        HandsOperandOn(branch(id, 1)) ||
        !Spend(branch(id, 0).live_count() + branch(id, 1).live_count())) {
      return false;
    }
    Computation& computation = Mutable();
    const InstructionId if_true = CloneBranch(id, 0);
    const InstructionId if_false = CloneBranch(id, 1);
    Replace(id,
            Select(computation, computation[id].operand(0), if_true, if_false));
    // Of tuples, the selects have used the elements only.
    for (InstructionId value : {if_true, if_false}) {
      if (computation[value].users().empty() && computation[value].is_live() &&
          value != computation.root() &&
          computation[value].opcode() == Opcode::kTuple) {
        computation.Remove(value);
      }
    }
    return true;
  }

  // The only branch that can run, or one that does what every other does.
  std::optional<size_t> TakenBranch(InstructionId id) const {
    const Instruction& conditional = here()[id];
    const size_t count = branch_count(id);
    if (count == 1) return 0;
    if (const Literal* index =
            ConstantLiteral(here(), conditional.operand(0))) {
      const int64_t value = index->AsInt(0);
      if (KindOf(index->shape().element_type()) == ElementKind::kPred) {
        return value != 0 ? 0 : 1;
      }
      const bool in_range = value >= 0 && value < static_cast<int64_t>(count);
      return in_range ? static_cast<size_t>(value) : count - 1;
    }
    for (size_t i = 1; i < count; ++i) {
      if (conditional.called()[i] != conditional.called()[0] ||
          conditional.operand(i + 1) != conditional.operand(1)) {
        return std::nullopt;
      }
    }
    return 0;
  }

  bool Inline(InstructionId id, size_t taken) {
    if (!Spend(branch(id, taken).live_count())) return false;
    Replace(id, CloneBranch(id, taken));
    return true;
  }

  bool Spend(int64_t instructions) {
    if (instructions > budget_) return false;
    budget_ -= instructions;
    return true;
  }

  InstructionId CloneBranch(InstructionId id, size_t i) {
    Computation& computation = Mutable();
    AddCallersOf(branch(id, i), callers_);
    return CloneInto(branch(id, i), {computation[id].operand(i + 1)},
                     computation);
  }

  void Replace(InstructionId id, InstructionId replacement) {
    Computation& computation = Mutable();
    computation.ReplaceAllUses(id, replacement);
    for (ComputationId callee : computation[id].called()) {
      --callers_[static_cast<size_t>(callee)];
    }
    computation.RemoveWithUnusedOperands(id);
  }

  static InstructionId Select(Computation& computation, InstructionId predicate,
                              InstructionId a, InstructionId b) {
    const ShapePtr shape = computation[a].shape_ptr();
    if (shape->IsTuple()) {
      InstructionIds elements;
      for (size_t i = 0; i < shape->tuple_elements().size(); ++i) {
        const InstructionId element_a = ElementOf(computation, a, i);
        const InstructionId element_b = ElementOf(computation, b, i);
        elements.push_back(
            Select(computation, predicate, element_a, element_b));
      }
      return computation.AddInstruction(
          Instruction(Opcode::kTuple, shape, elements));
    }
    if (!shape->IsScalar()) {
      predicate = computation.AddInstruction(
          MakeBroadcast(computation, predicate, shape->dimensions(), {}));
    }
    return computation.AddInstruction(
        Instruction(Opcode::kSelect, shape, {predicate, a, b}));
  }

  // Whether the result is a tuple that is only taken apart.
  bool IsTakenApart(InstructionId id) const {
    return here()[id].shape().IsTuple() && !here()[id].users().empty() &&
           UsesElementsOnly(here(), id);
  }

  bool MergeEqualElements(InstructionId id) {
    if (!IsTakenApart(id)) return false;
    for (size_t i = 0; i < branch_count(id); ++i) {
      if (branch(id, i)[branch(id, i).root()].opcode() != Opcode::kTuple) {
        return false;
      }
    }
    absl::flat_hash_map<std::vector<InstructionId>, int32_t> first;
    std::vector<int32_t> merged;
    const size_t count = here()[id].shape().tuple_elements().size();
    for (size_t e = 0; e < count; ++e) {
      std::vector<InstructionId> sources;
      for (size_t i = 0; i < branch_count(id); ++i) {
        sources.push_back(branch(id, i)[branch(id, i).root()].operand(e));
      }
      const auto element = static_cast<int32_t>(e);
      merged.push_back(
          first.try_emplace(std::move(sources), element).first->second);
    }
    std::vector<InstructionId> reads;
    for (InstructionId read : here()[id].users()) {
      const int32_t index = here()[read].index();
      if (merged[static_cast<size_t>(index)] != index) reads.push_back(read);
    }
    for (InstructionId read : reads) {
      Instruction& instruction = Mutable().mutable_instruction(read);
      instruction.set_index(merged[static_cast<size_t>(instruction.index())]);
    }
    return !reads.empty();
  }

  bool RemoveUnreadElements(InstructionId id) {
    if (!IsTakenApart(id)) return false;
    const std::vector<bool> needed = ReadElements(here(), id);
    if (All(needed) || !OwnBranches(id)) return false;
    NarrowResult(id, needed);
    RenumberReads(Mutable(), id, needed);
    return true;
  }

  bool EmptyUnusedResult(InstructionId id) {
    const Shape& shape = here()[id].shape();
    if (!here()[id].users().empty() || id == here().root() ||
        !shape.IsTuple() || shape.tuple_elements().empty() ||
        !OwnBranches(id)) {
      return false;
    }
    NarrowResult(id, std::vector<bool>(shape.tuple_elements().size(), false));
    return true;
  }

  void NarrowResult(InstructionId id, const std::vector<bool>& needed) {
    for (ComputationId callee : here()[id].called()) {
      Computation& computation = module_.mutable_computation(callee);
      computation.set_root(
          NarrowedTuple(computation, computation.root(), needed));
      RemoveDeadInstructions(module_, callee);
    }
    std::vector<ShapePtr> shapes;
    for (size_t i = 0; i < needed.size(); ++i) {
      if (needed[i]) shapes.push_back(here()[id].shape().tuple_elements()[i]);
    }
    Mutable().mutable_instruction(id).set_shape(
        Shape::Tuple(std::move(shapes)));
  }

  bool RemoveUnreadOperandElements(InstructionId id, size_t i) {
    const Computation& shared = branch(id, i);
    const InstructionId parameter = shared.parameters()[0];
    if (!shared[parameter].shape().IsTuple() ||
        !UsesElementsOnly(shared, parameter) || IsSharded(shared[parameter])) {
      return false;
    }
    const std::vector<bool> needed = ReadElements(shared, parameter);
    if (All(needed) || !OwnBranches(id)) return false;
    Computation& outside = Mutable();
    const InstructionId old_operand = outside[id].operand(i + 1);
    const InstructionId operand = NarrowedTuple(outside, old_operand, needed);
    outside.ReplaceOperand(id, i + 1, operand);
    if (outside[old_operand].users().empty() &&
        outside[old_operand].opcode() == Opcode::kTuple &&
        old_operand != outside.root() &&
        !outside.HasControlDependency(old_operand)) {
      outside.RemoveWithUnusedOperands(old_operand);
    }
    Computation& inside = module_.mutable_computation(outside[id].called()[i]);
    inside.mutable_instruction(parameter).set_shape(
        outside[operand].shape_ptr());
    RenumberReads(inside, parameter, needed);
    return true;
  }

  // Sees to it that nothing else calls the branches; false where that would
  // copy too much.
  bool OwnBranches(InstructionId id) {
    ComputationIds called = here()[id].called();
    int64_t copied = 0;
    for (ComputationId callee : called) {
      if (callers_[static_cast<size_t>(callee)] > 1) {
        copied += module_.computation(callee).live_count();
      }
    }
    if (copied == 0) return true;
    if (!Spend(copied)) return false;
    for (ComputationId& callee : called) {
      if (callers_[static_cast<size_t>(callee)] == 1) continue;
      --callers_[static_cast<size_t>(callee)];
      if (!cloner_.has_value()) cloner_.emplace(module_);
      callee = cloner_->Clone(callee);
      callers_.resize(static_cast<size_t>(module_.computation_slots()), 0);
      callers_[static_cast<size_t>(callee)] = 1;
      AddCallersOf(module_.computation(callee), callers_);
    }
    Mutable().mutable_instruction(id).set_called(called);
    return true;
  }

  Module& module_;
  std::vector<int> callers_;
  int64_t budget_;
  std::optional<ComputationCloner> cloner_;
  // The computation at hand.
  ComputationId c_ = kNoComputation;
};

bool HasConditional(const Computation& computation) {
  for (InstructionId id = 0; id < computation.slot_count(); ++id) {
    if (computation[id].is_live() &&
        computation[id].opcode() == Opcode::kConditional) {
      return true;
    }
  }
  return false;
}

class SimplifyConditional final : public Pass {
 public:
  absl::string_view name() const override { return "simplify-conditional"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    if (module.is_scheduled()) return false;
    for (ComputationId c = 0; c < module.computation_slots(); ++c) {
      if (module.has_computation(c) && HasConditional(module.computation(c))) {
        return Simplifier(module).Run();
      }
    }
    return false;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeSimplifyConditional() {
  return std::make_unique<SimplifyConditional>();
}

}  // namespace hone::hlo
