#include "hlo/rewrite/rewriter.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace hone::hlo::algsimp {

Rewriter::Rewriter(Module& module, ComputationId id)
    : module_(&module), id_(id), current_(&module.computation(id)) {}

bool Rewriter::DiesWith(InstructionId id, InstructionId user) const {
  const Instruction& instruction = (*current_)[id];
  return instruction.users().size() == 1 && instruction.users()[0] == user &&
         id != current_->root() && instruction.opcode() != Opcode::kParameter &&
         !current_->HasControlDependency(id);
}

int Rewriter::FreedWith(InstructionId id, InstructionId user) const {
  int freed = 0;
  while (DiesWith(id, user)) {
    ++freed;
    if (!Is(id, Opcode::kBroadcast) && !Is(id, Opcode::kReshape)) break;
    user = id;
    id = operand(id, 0);
  }
  return freed;
}

bool Rewriter::LayoutIsSeen(InstructionId id) const {
  const InstructionIds& users = (*current_)[id].users();
  return std::any_of(users.begin(), users.end(), [&](InstructionId user) {
    const Opcode opcode = (*current_)[user].opcode();
    return opcode == Opcode::kBitcast || opcode == Opcode::kUnknown ||
           IsOpaque(opcode);
  });
}

InstructionId Rewriter::Add(Instruction instruction) {
  const InstructionId id = Mutable().AddInstruction(std::move(instruction));
  Enqueue(id);
  return id;
}

InstructionId Rewriter::AddUniform(Literal scalar,
                                   absl::Span<const int64_t> dimensions) {
  const InstructionId constant = Add(Instruction::Constant(std::move(scalar)));
  if (dimensions.empty()) return constant;
  return Add(MakeBroadcast(*current_, constant, dimensions, {}));
}

InstructionId Rewriter::AddUnary(Opcode opcode, InstructionId operand) {
  return Add(MakeUnary(opcode, *current_, operand));
}

InstructionId Rewriter::AddBinary(Opcode opcode, InstructionId lhs,
                                  InstructionId rhs) {
  return Add(MakeBinary(opcode, *current_, lhs, rhs));
}

InstructionId Rewriter::AddReshape(InstructionId operand,
                                   absl::Span<const int64_t> dimensions) {
  if (absl::MakeConstSpan(dimensions_of(operand)) == dimensions) return operand;
  return Add(MakeReshape(*current_, operand, dimensions));
}

bool Rewriter::Replace(InstructionId old, InstructionId replacement) {
  HONE_CHECK(old != replacement);
  if (!Shape::Equal(shape(old), shape(replacement))) return false;
  if (!Shape::Equal(shape(old), shape(replacement), /*ignore_layout=*/false) &&
      LayoutIsSeen(old)) {
    replacement = Add(Instruction(Opcode::kCopy, (*current_)[old].shape_ptr(),
                                  {replacement}));
  }
  ++replacements_;
  Enqueue(replacement);
  for (InstructionId user : (*current_)[old].users()) Enqueue(user);
  Mutable().ReplaceAllUses(old, replacement);
  // Rules that ask whether something dies with them may apply now.
  for (InstructionId operand : InstructionIds((*current_)[old].operands())) {
    if ((*current_)[operand].users().size() > 8) continue;
    for (InstructionId user : (*current_)[operand].users()) Enqueue(user);
  }
  if ((*current_)[old].users().empty()) RemoveDead(old);
  return true;
}

void Rewriter::RemoveDead(InstructionId id) {
  // Unlike Computation::RemoveWithUnusedOperands, also what calls a region.
  std::vector<InstructionId> worklist = {id};
  while (!worklist.empty()) {
    const InstructionId next = worklist.back();
    worklist.pop_back();
    const Instruction& instruction = (*current_)[next];
    if (!instruction.is_live() || !instruction.users().empty() ||
        next == current_->root() ||
        instruction.opcode() == Opcode::kParameter ||
        module_->HasSideEffect(instruction) ||
        current_->HasControlDependency(next)) {
      continue;
    }
    const InstructionIds operands = instruction.operands();
    Mutable().Remove(next);
    worklist.insert(worklist.end(), operands.begin(), operands.end());
  }
}

bool Rewriter::ReplaceWith(InstructionId old, Instruction instruction) {
  instruction.set_metadata((*current_)[old].metadata());
  return Replace(old, Add(std::move(instruction)));
}

Computation& Rewriter::Mutable() {
  if (mutable_ == nullptr) {
    mutable_ = &module_->mutable_computation(id_, &replaced_);
    current_ = mutable_;
  }
  return *mutable_;
}

void Rewriter::Enqueue(InstructionId id) {
  const size_t i = static_cast<size_t>(id);
  if (i >= queued_.size()) queued_.resize(i + 1, false);
  if (queued_[i]) return;
  queued_[i] = true;
  queue_.push_back(id);
}

void Rewriter::EnqueueAll() {
  queue_.clear();
  queued_.assign(static_cast<size_t>(current_->slot_count()), false);
  for (InstructionId id = 0; id < current_->slot_count(); ++id) {
    if ((*current_)[id].is_live()) Enqueue(id);
  }
}

}  // namespace hone::hlo::algsimp
