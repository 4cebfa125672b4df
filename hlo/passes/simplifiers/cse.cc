// cse: merges instructions that compute the same.
//
//   a = f32[2] add(p, q)
//   b = f32[2] add(q, p)
//   ROOT r = f32[2] multiply(a, b)   →   ROOT r = f32[2] multiply(a, a)
//
// The same means: opcode, shape, attributes, operands (in either order for
// commutative opcodes), literal, and called computations of equal content. The
// first in post order stays. One run finds everything, since operands come
// before users.
//
// Legal because HLO is pure but for opaque instructions (rng and custom-call
// among them), which are left alone, as are while, call and the like that
// contain one, ends of control dependencies and constants whose value was left
// out of the text. Shapes may differ in layout, which has no meaning before
// layout assignment, unless a bitcast or an opaque user reads it or the
// instruction is a root. Scheduled modules are left alone: there a copy that
// equals another one is a buffer of its own.
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

namespace hone::hlo {
namespace {

// Finds the duplicates in one computation without changing it.
class DuplicateFinder {
 public:
  DuplicateFinder(const Module& module, const Computation& computation,
                  std::optional<ComputationClasses>& classes)
      : module_(module),
        computation_(computation),
        classes_(classes),
        hashes_(static_cast<size_t>(computation.slot_count())),
        kept_(static_cast<size_t>(computation.slot_count())) {}

  // (duplicate, what replaces it), duplicates in post order.
  std::vector<std::pair<InstructionId, InstructionId>> Find() {
    const auto hash = [this](InstructionId id) {
      return hashes_[static_cast<size_t>(id)];
    };
    const auto same = [this](InstructionId a, InstructionId b) {
      return Same(a, b);
    };
    absl::flat_hash_set<InstructionId, decltype(hash), decltype(same)> seen(
        static_cast<size_t>(computation_.live_count()), hash, same);
    std::vector<std::pair<InstructionId, InstructionId>> duplicates;
    for (InstructionId id : computation_.PostOrder()) {
      kept_[static_cast<size_t>(id)] = id;
      if (!IsCandidate(id)) continue;
      hashes_[static_cast<size_t>(id)] = Hash(id);
      const auto [it, inserted] = seen.insert(id);
      if (inserted) continue;
      kept_[static_cast<size_t>(id)] = *it;
      duplicates.emplace_back(id, *it);
    }
    return duplicates;
  }

 private:
  InstructionId Kept(InstructionId id) const {
    return kept_[static_cast<size_t>(id)];
  }

  bool IsCandidate(InstructionId id) const {
    const Instruction& instruction = computation_[id];
    return instruction.opcode() != Opcode::kParameter &&
           !IsOpaque(instruction.opcode()) &&
           !(instruction.IsConstant() && instruction.literal()->is_elided()) &&
           !(computation_.has_control_dependencies() &&
             computation_.HasControlDependency(id));
  }

  size_t Hash(InstructionId id) const {
    const Instruction& instruction = computation_[id];
    size_t h = HashOperation(instruction);
    if (IsCommutative(instruction.opcode())) {
      const auto [low, high] = std::minmax(
          {Kept(instruction.operand(0)), Kept(instruction.operand(1))});
      return absl::HashOf(h, low, high);
    }
    for (InstructionId operand : instruction.operands()) {
      h = absl::HashOf(h, Kept(operand));
    }
    return h;
  }

  bool SameOperands(const Instruction& a, const Instruction& b) const {
    const auto same = [this](InstructionId x, InstructionId y) {
      return Kept(x) == Kept(y);
    };
    return std::equal(a.operands().begin(), a.operands().end(),
                      b.operands().begin(), b.operands().end(), same) ||
           (IsCommutative(a.opcode()) && same(a.operand(0), b.operand(1)) &&
            same(a.operand(1), b.operand(0)));
  }

  bool LayoutIsRead(InstructionId id) const {
    if (id == computation_.root()) return true;
    const InstructionIds& users = computation_[id].users();
    return std::any_of(users.begin(), users.end(), [&](InstructionId user) {
      const Opcode opcode = computation_[user].opcode();
      return opcode == Opcode::kBitcast || IsOpaque(opcode);
    });
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
      if (!classes_.has_value()) classes_.emplace(module_);
      if (!classes_->SameCalled(a, b)) return false;
    }
    return !module_.HasSideEffect(a);
  }

  const Module& module_;
  const Computation& computation_;
  // Made when first needed, which is rarely.
  std::optional<ComputationClasses>& classes_;
  std::vector<size_t> hashes_;
  // By slot: itself, or what replaces it.
  std::vector<InstructionId> kept_;
};

void Merge(
    Computation& computation,
    const std::vector<std::pair<InstructionId, InstructionId>>& duplicates) {
  for (const auto& [duplicate, kept] : duplicates) {
    computation.ReplaceAllUses(duplicate, kept);
  }
  // Backwards: the youngest users of an operand are found fastest.
  for (auto it = duplicates.rbegin(); it != duplicates.rend(); ++it) {
    computation.Remove(it->first);
  }
}

class Cse final : public Pass {
 public:
  absl::string_view name() const override { return "cse"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    if (module.is_scheduled()) return false;
    bool changed = false;
    // Of the module as it was when first needed. Computations that were equal
    // then still compute the same.
    std::optional<ComputationClasses> classes;
    for (ComputationId id : module.ComputationPostOrder()) {
      const Computation& computation = module.computation(id);
      // Two equal instructions need two that are no parameters.
      const auto parameters =
          static_cast<int64_t>(computation.parameters().size());
      if (computation.live_count() - parameters < 2) continue;
      const auto duplicates =
          DuplicateFinder(module, computation, classes).Find();
      if (duplicates.empty()) continue;
      Merge(module.mutable_computation(id), duplicates);
      changed = true;
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeCse() { return std::make_unique<Cse>(); }

}  // namespace hone::hlo
