// cse: merges instructions that compute the same.
//
//   a = f32[2] add(p, q)
//   b = f32[2] add(q, p)
//   ROOT r = f32[2] multiply(a, b)   →   ROOT r = f32[2] multiply(a, a)
//
// The same means: opcode, shape, attributes, operands (in either order for
// commutative opcodes), literal, and called computations of equal content. The
// first in post order stays. One run finds everything, since operands come
// before users. Stronger than upstream's: equal iotas are merged too, wherever
// they stand.
//
// Legal because HLO is pure but for opaque instructions (rng and custom-call
// among them), which are left alone, as are while, call and the like that
// contain one, ends of control dependencies and constants whose value was left
// out of the text. Attributes include sharding and frontend attributes.
// Constants are equal bit by bit. Shapes may differ in layout, which has no
// meaning before layout assignment, unless a bitcast or an opaque user reads it
// or the instruction is a root. Scheduled modules are left alone: there a copy
// that equals another one is a buffer of its own. Numeric class: exact.
//
// Not to be used after passes that duplicate instructions on purpose
// (rematerialization, constant splitting): it undoes them.

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"

#include "hlo/analysis/structural_equality.h"
#include "hlo/passes/registry.h"
#include "hlo/rewrite/driver.h"

namespace hone::hlo {
namespace {

// Finds the duplicates in one computation without changing it.
class DuplicateFinder {
 public:
  // Nothing may change the computation while this is in use.
  DuplicateFinder(const Rewriter& r, std::optional<ComputationClasses>& classes)
      : r_(r), computation_(r.computation()), classes_(classes) {}

  // (duplicate, what replaces it), duplicates in post order.
  std::vector<std::pair<InstructionId, InstructionId>> Find() {
    const auto hash = [this](InstructionId id) { return hashes_.at(id); };
    const auto same = [this](InstructionId a, InstructionId b) {
      return Same(a, b);
    };
    absl::flat_hash_set<InstructionId, decltype(hash), decltype(same)> seen(
        static_cast<size_t>(computation_.live_count()), hash, same);
    std::vector<std::pair<InstructionId, InstructionId>> duplicates;
    const std::vector<InstructionId> order = computation_.PostOrder();
    // Grown at once, by the largest id.
    const InstructionId last = *std::max_element(order.begin(), order.end());
    hashes_[last] = 0;
    kept_[last] = last;
    for (InstructionId id : order) {
      kept_[id] = id;
      if (!IsCandidate(id)) continue;
      hashes_[id] = Hash(id);
      const auto [it, inserted] = seen.insert(id);
      if (inserted) continue;
      kept_[id] = *it;
      duplicates.emplace_back(id, *it);
    }
    return duplicates;
  }

 private:
  bool IsCandidate(InstructionId id) const {
    const Instruction& instruction = computation_[id];
    return instruction.opcode() != Opcode::kParameter &&
           !IsOpaque(instruction.opcode()) &&
           !(instruction.IsConstant() && instruction.literal()->is_elided()) &&
           !computation_.HasControlDependency(id);
  }

  size_t Hash(InstructionId id) const {
    const Instruction& instruction = computation_[id];
    size_t h = HashOperation(instruction);
    if (IsCommutative(instruction.opcode())) {
      const auto [low, high] = std::minmax(
          {kept_.at(instruction.operand(0)), kept_.at(instruction.operand(1))});
      return absl::HashOf(h, low, high);
    }
    for (InstructionId operand : instruction.operands()) {
      h = absl::HashOf(h, kept_.at(operand));
    }
    return h;
  }

  bool SameOperands(const Instruction& a, const Instruction& b) const {
    const auto same = [this](InstructionId x, InstructionId y) {
      return kept_.at(x) == kept_.at(y);
    };
    return std::equal(a.operands().begin(), a.operands().end(),
                      b.operands().begin(), b.operands().end(), same) ||
           (IsCommutative(a.opcode()) && same(a.operand(0), b.operand(1)) &&
            same(a.operand(1), b.operand(0)));
  }

  bool LayoutIsRead(InstructionId id) const {
    return id == computation_.root() || r_.LayoutIsSeen(id);
  }

  bool Same(InstructionId a_id, InstructionId b_id) const {
    const Instruction& a = computation_[a_id];
    const Instruction& b = computation_[b_id];
    if (!SameOperation(a, b, /*ignore_layout=*/true) || !SameOperands(a, b)) {
      return false;
    }
    if (!Shape::Equal(a.shape(), b.shape(), /*ignore_layout=*/false) &&
        (a.opcode() == Opcode::kBitcast || LayoutIsRead(a_id) ||
         LayoutIsRead(b_id))) {
      return false;
    }
    return SameCalled(a, b);
  }

  bool SameCalled(const Instruction& a, const Instruction& b) const {
    if (a.called().empty() && b.called().empty()) return true;
    if (a.called() != b.called()) {
      if (!classes_.has_value()) classes_.emplace(r_.module());
      if (!classes_->SameCalled(a, b)) return false;
    }
    return !r_.module().HasSideEffect(a);
  }

  const Rewriter& r_;
  const Computation& computation_;
  // Made when first needed, which is rarely.
  std::optional<ComputationClasses>& classes_;
  IdMap<size_t> hashes_;
  // Itself, or what replaces it.
  IdMap<InstructionId> kept_;
};

class Cse final : public Pass {
 public:
  absl::string_view name() const override { return "cse"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& options) const override {
    // Of the module as it was when first needed. Computations that were equal
    // then still compute the same.
    std::optional<ComputationClasses> classes;
    const auto merge = [&](Rewriter& r) {
      // Two equal instructions need two that are no parameters.
      const auto parameters =
          static_cast<int64_t>(r.computation().parameters().size());
      if (r.computation().live_count() - parameters < 2) return;
      const auto duplicates = DuplicateFinder(r, classes).Find();
      // There are no attributes to carry over: they are equal.
      for (const auto& [duplicate, kept] : duplicates) {
        r.ReplaceUses(duplicate, kept);
      }
      // Backwards: the youngest users of an operand are found fastest.
      for (auto it = duplicates.rbegin(); it != duplicates.rend(); ++it) {
        r.RemoveDead(it->first);
      }
    };
    return RewriteComputations(module, {.name = name()}, options, merge);
  }
};

}  // namespace

std::unique_ptr<Pass> MakeCse() { return std::make_unique<Cse>(); }

}  // namespace hone::hlo
