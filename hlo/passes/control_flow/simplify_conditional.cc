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
// selecting. A branch with another caller is copied before it changes. An index
// out of range means the last branch.
//
// Exact. Legal always; of conditionals with effects only the elements are
// removed, and only arrays of static sizes are selected. Not for ends of
// control dependencies, conditionals with attributes that Hone does not know
// and scheduled modules, nor beyond the CloningBudget.

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "hlo/passes/control_flow/select_branches.h"
#include "hlo/passes/registry.h"
#include "hlo/rewrite/callees.h"
#include "hlo/rewrite/carried_attributes.h"
#include "hlo/rewrite/dead_code.h"
#include "hlo/rewrite/driver.h"
#include "hlo/rewrite/tuples/elements.h"
#include "hlo/rewrite/values.h"

namespace hone::hlo {
namespace {

bool All(const std::vector<bool>& values) {
  return std::find(values.begin(), values.end(), false) == values.end();
}

// Returns true if a changed tuple can be made of `id`: where that is no tuple
// instruction, it stays, and its elements are taken.
bool MayChangeTuple(const Computation& computation, InstructionId id,
                    const ElementChange& change) {
  return computation[id].opcode() != Opcode::kTuple ||
         MayChangeElements(computation[id], change);
}

// One conditional.
class Simplifier {
 public:
  Simplifier(Rewriter& r, InstructionId id, Callees& callees)
      : r_(r), id_(id), callees_(callees) {}

  bool Run() {
    if (!AttributesPermitReplacing(r_[id_]) ||
        r_.computation().HasControlDependency(id_)) {
      return false;
    }
    if (r_.MayReplace(id_, /*dynamic=*/true) && Remove()) return true;
    bool changed = MergeEqualElements();
    changed |= RemoveUnreadElements();
    for (size_t i = 0; i < branch_count(); ++i) {
      changed |= RemoveUnreadOperandElements(i);
    }
    return changed;
  }

 private:
  const Computation& branch(size_t i) const {
    return r_.module().computation(r_[id_].called()[i]);
  }
  size_t branch_count() const { return r_[id_].called().size(); }

  bool Remove() {
    if (const std::optional<size_t> taken = TakenBranch()) {
      const InstructionId argument = r_.operand(id_, *taken + 1);
      return callees_.Inline(r_, id_, *taken, {argument});
    }
    return MaySelectBranches(r_, id_) && IsCheapBranch(branch(0)) &&
           IsCheapBranch(branch(1)) && SelectBranches(r_, id_, callees_);
  }

  // The only branch that can run, or one that does what every other does.
  std::optional<size_t> TakenBranch() const {
    const Instruction& conditional = r_[id_];
    const size_t count = branch_count();
    if (count == 1) return 0;
    if (const Literal* index =
            ConstantLiteral(r_.computation(), conditional.operand(0))) {
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

  // Returns true if the result is a tuple that is only taken apart.
  bool IsTakenApart() const {
    return r_.shape(id_).IsTuple() && UsesElementsOnly(r_.computation(), id_);
  }

  bool MergeEqualElements() {
    // Equal elements may be sharded in two ways.
    if (!IsTakenApart() || FindAttribute(r_[id_], "sharding") != nullptr) {
      return false;
    }
    for (size_t i = 0; i < branch_count(); ++i) {
      if (branch(i)[branch(i).root()].opcode() != Opcode::kTuple) return false;
    }
    absl::flat_hash_map<std::vector<InstructionId>, int32_t> first;
    std::vector<int32_t> merged;
    const size_t count = r_.shape(id_).tuple_elements().size();
    for (size_t e = 0; e < count; ++e) {
      std::vector<InstructionId> sources;
      sources.reserve(branch_count());
      for (size_t i = 0; i < branch_count(); ++i) {
        sources.push_back(branch(i)[branch(i).root()].operand(e));
      }
      const auto element = static_cast<int32_t>(e);
      merged.push_back(
          first.try_emplace(std::move(sources), element).first->second);
    }
    bool changed = false;
    for (InstructionId read : InstructionIds(r_[id_].users())) {
      const int32_t index = r_[read].index();
      const int32_t same = merged[static_cast<size_t>(index)];
      if (same == index) continue;
      r_.SetIndex(read, same);
      changed = true;
    }
    return changed;
  }

  // All of them if nothing uses the result.
  bool RemoveUnreadElements() {
    if (!IsTakenApart()) return false;
    const ElementChange change = {ReadElements(r_.computation(), id_)};
    if (All(change.kept) || !MayChangeElements(r_[id_], change)) return false;
    for (size_t i = 0; i < branch_count(); ++i) {
      if (!MayChangeTuple(branch(i), branch(i).root(), change)) return false;
    }
    if (!callees_.MakeOwn(r_, id_)) return false;
    for (ComputationId callee : r_[id_].called()) {
      Rewriter inside(r_, callee);
      inside.SetRoot(
          MakeChangedTuple(inside, inside.computation().root(), change));
      RemoveDeadInstructions(inside);
      r_.Include(inside);
    }
    ChangeElements(r_, id_, change);
    return true;
  }

  bool RemoveUnreadOperandElements(size_t i) {
    const Computation& shared = branch(i);
    const InstructionId parameter = shared.parameters()[0];
    if (!shared[parameter].shape().IsTuple() ||
        !UsesElementsOnly(shared, parameter)) {
      return false;
    }
    const ElementChange change = {ReadElements(shared, parameter)};
    InstructionIds operands = r_[id_].operands();
    const InstructionId old = operands[i + 1];
    if (All(change.kept) || !MayChangeElements(shared[parameter], change) ||
        !MayChangeTuple(r_.computation(), old, change) ||
        !callees_.MakeOwn(r_, id_)) {
      return false;
    }
    operands[i + 1] = MakeChangedTuple(r_, old, change);
    r_.SetOperands(id_, operands);
    r_.RemoveDead(old);
    Rewriter inside(r_, r_[id_].called()[i]);
    ChangeElements(inside, parameter, change);
    r_.Include(inside);
    return true;
  }

  Rewriter& r_;
  const InstructionId id_;
  Callees& callees_;
};

class SimplifyConditional final : public Pass {
 public:
  absl::string_view name() const override { return "simplify-conditional"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& options) const override {
    // Callees first, so that branches are simple before they are copied.
    const RewriteRule rule = {.name = name(),
                              .opcodes = {Opcode::kConditional},
                              .call_order = CallOrder::kCalleesFirst,
                              .checks_itself = true,
                              .drops_callees = true};
    Callees callees(module);
    return RewriteModule(module, rule, options,
                         [&](Rewriter& r, InstructionId id) {
                           return Simplifier(r, id, callees).Run();
                         });
  }
};

}  // namespace

std::unique_ptr<Pass> MakeSimplifyConditional() {
  return std::make_unique<SimplifyConditional>();
}

}  // namespace hone::hlo
