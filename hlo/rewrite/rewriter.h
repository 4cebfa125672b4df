#ifndef HONE_HLO_REWRITE_REWRITER_H_
#define HONE_HLO_REWRITE_REWRITER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/types/span.h"

#include "hlo/ir/module.h"
#include "hlo/rewrite/builder.h"

namespace hone::hlo::algsimp {

// What a rule sees of the computation it works on, and how it changes it.
//
// Reading never copies the computation; the first change does if another module
// shares it. References to instructions stay valid until Replace, so a rule
// matches, then adds instructions, and calls Replace last.
class Rewriter {
 public:
  // `module` outlives the rewriter.
  Rewriter(Module& module, ComputationId id);

  const Module& module() const { return *module_; }
  const Computation& computation() const { return *current_; }
  const Instruction& operator[](InstructionId id) const {
    return (*current_)[id];
  }
  const Shape& shape(InstructionId id) const { return (*current_)[id].shape(); }
  const DimensionVector& dimensions_of(InstructionId id) const {
    return shape(id).dimensions();
  }
  // Operand `i` of `id`.
  InstructionId operand(InstructionId id, size_t i) const {
    return (*current_)[id].operand(i);
  }
  bool Is(InstructionId id, Opcode opcode) const {
    return (*current_)[id].opcode() == opcode;
  }

  // Whether removing the uses by `user` leaves `id` dead: `user` is its only
  // user and it is neither the root, nor a parameter, nor held by a control
  // dependency.
  bool DiesWith(InstructionId id, InstructionId user) const;
  // How many instructions go when `id` goes, itself and operands (of operands)
  // that nothing else uses. For rules that must not raise the count. Looks
  // through chains of broadcasts and reshapes only.
  int FreedWith(InstructionId id, InstructionId user) const;

  InstructionId Add(Instruction instruction);
  // A scalar constant, broadcast to `dimensions` unless they are empty.
  InstructionId AddUniform(Literal scalar,
                           absl::Span<const int64_t> dimensions);
  InstructionId AddUnary(Opcode opcode, InstructionId operand);
  InstructionId AddBinary(Opcode opcode, InstructionId lhs, InstructionId rhs);
  // The operand itself when it has these dimensions already.
  InstructionId AddReshape(InstructionId operand,
                           absl::Span<const int64_t> dimensions);

  // Whether the layout of `id` is part of what some user means.
  bool LayoutIsSeen(InstructionId id) const;

  // Replaces all uses of `old` by an instruction of the same shape and removes
  // what that leaves dead. Where the layouts differ and a user sees that, a
  // copy goes in between. Returns false, and does nothing, for another shape
  // (which a module that verifies may still have, as to dynamic dimensions).
  bool Replace(InstructionId old, InstructionId replacement);
  bool ReplaceWith(InstructionId old, Instruction instruction);

  // Applies `simplify` (rewriter, id → whether it replaced id) to every live
  // instruction, then to those whose operands changed, until nothing does.
  // Returns whether anything changed.
  template <typename Simplify>
  bool RunToFixedPoint(Simplify simplify);

 private:
  Computation& Mutable();
  // Removes `id` if nothing uses it, and then its operands likewise.
  void RemoveDead(InstructionId id);
  void Enqueue(InstructionId id);
  void EnqueueAll();

  Module* module_;
  ComputationId id_;
  const Computation* current_;
  Computation* mutable_ = nullptr;
  std::shared_ptr<const Computation> replaced_;
  std::vector<InstructionId> queue_;
  std::vector<bool> queued_;
  int64_t replacements_ = 0;
};

template <typename Simplify>
bool Rewriter::RunToFixedPoint(Simplify simplify) {
  // Instructions that are only looked at, mostly, before the first match.
  InstructionId first = 0;
  const InstructionId slots = current_->slot_count();
  while (first < slots &&
         !((*current_)[first].is_live() && simplify(*this, first))) {
    ++first;
  }
  if (first == slots) return mutable_ != nullptr;
  // Rules shrink the module or move it towards a normal form, so this ends by
  // itself; the bound is there should two rules ever undo each other.
  const int64_t bound = 1000 + 20 * int64_t{slots};
  int64_t before;
  do {
    before = replacements_;
    EnqueueAll();
    for (size_t next = 0; next < queue_.size(); ++next) {
      const InstructionId id = queue_[next];
      queued_[static_cast<size_t>(id)] = false;
      if ((*current_)[id].is_live()) simplify(*this, id);
      if (replacements_ > bound) return true;
    }
  } while (replacements_ != before);
  return true;
}

}  // namespace hone::hlo::algsimp

#endif  // HONE_HLO_REWRITE_REWRITER_H_
