#include "hlo/ir/computation.h"

#include <algorithm>

#include "base/check.h"

namespace hone::hlo {

InstructionId Computation::AddInstruction(Instruction instruction) {
  const InstructionId id = AddWithForwardReferences(std::move(instruction));
  const InstructionIds operands = (*this)[id].operands_;
  for (InstructionId operand : operands) {
    // `id` is the last user of an operand that it repeats.
    const InstructionIds& users = (*this)[operand].users_;
    if (users.empty() || users.back() != id) AddUser(operand, id);
  }
  return id;
}

InstructionId Computation::AddWithForwardReferences(Instruction instruction) {
  const InstructionId id = slot_count();
  instruction.users_.clear();
  instruction.live_ = true;
  instruction.id_ = id;
  if (instruction.opcode() == Opcode::kParameter) {
    const size_t number = static_cast<size_t>(instruction.index());
    if (parameters_.size() <= number) {
      parameters_.resize(number + 1, kNoInstruction);
    }
    parameters_[number] = id;
  }
  opcodes_.Insert(instruction.opcode());
  instructions_.push_back(std::move(instruction));
  ++live_count_;
  return id;
}

void Computation::FinishForwardReferences() {
  for (InstructionId id = 0; id < slot_count(); ++id) {
    const InstructionIds& operands = (*this)[id].operands_;
    for (InstructionId operand : operands) {
      InstructionIds& users = mutable_instruction(operand).users_;
      // Users are added in slot order, so a repeat is the last one.
      if (users.empty() || users.back() != id) users.push_back(id);
    }
  }
}

void Computation::ReplaceOperand(InstructionId user, size_t operand_index,
                                 InstructionId replacement) {
  Instruction& instruction = mutable_instruction(user);
  const InstructionId old = instruction.operands_[operand_index];
  if (old == replacement) return;
  const bool used_before = Uses(user, replacement);
  instruction.operands_[operand_index] = replacement;
  if (!used_before) AddUser(replacement, user);
  if (!Uses(user, old)) RemoveUser(old, user);
}

void Computation::SetOperands(InstructionId user,
                              absl::Span<const InstructionId> operands) {
  // `operands` may be a view of the instruction's own.
  InstructionIds replacement(operands.begin(), operands.end());
  Instruction& instruction = mutable_instruction(user);
  const InstructionIds old = std::move(instruction.operands_);
  instruction.operands_.clear();
  for (InstructionId operand : old) {
    // A repeated operand is absent from users after the first removal.
    const InstructionIds& users = (*this)[operand].users_;
    if (std::find(users.begin(), users.end(), user) != users.end()) {
      RemoveUser(operand, user);
    }
  }
  for (InstructionId operand : replacement) {
    const InstructionIds& users = (*this)[operand].users_;
    if (users.empty() || users.back() != user) AddUser(operand, user);
  }
  instruction.operands_ = std::move(replacement);
}

void Computation::ReplaceAllUses(InstructionId old, InstructionId replacement) {
  HONE_CHECK(old != replacement);
  InstructionIds users = std::move(mutable_instruction(old).users_);
  InstructionIds& kept = mutable_instruction(old).users_;
  kept.clear();
  for (InstructionId user : users) {
    if (user == replacement) {
      kept.push_back(user);
      continue;
    }
    const bool used_before = Uses(user, replacement);
    for (InstructionId& operand : mutable_instruction(user).operands_) {
      if (operand == old) operand = replacement;
    }
    if (!used_before) AddUser(replacement, user);
  }
  if (root_ == old) root_ = replacement;
  control_.MoveSuccessors(old, replacement);
}

void Computation::Remove(InstructionId id) {
  Instruction& instruction = mutable_instruction(id);
  HONE_CHECK(instruction.live_ && instruction.users_.empty() && id != root_);
  for (InstructionId operand : instruction.operands_) {
    // A repeated operand is absent from users after the first removal.
    const InstructionIds& users = (*this)[operand].users_;
    if (std::find(users.rbegin(), users.rend(), id) != users.rend()) {
      RemoveUser(operand, id);
    }
  }
  if (instruction.opcode() == Opcode::kParameter) {
    parameters_[static_cast<size_t>(instruction.index())] = kNoInstruction;
  }
  control_.Remove(id);
  instruction = Instruction();
  instruction.live_ = false;
  --live_count_;
}

void Computation::RenumberParameters() {
  parameters_.erase(
      std::remove(parameters_.begin(), parameters_.end(), kNoInstruction),
      parameters_.end());
  for (size_t i = 0; i < parameters_.size(); ++i) {
    mutable_instruction(parameters_[i]).set_index(static_cast<int32_t>(i));
  }
}

void Computation::Compact() {
  std::vector<InstructionId> new_ids(static_cast<size_t>(slot_count()),
                                     kNoInstruction);
  InstructionId next = 0;
  for (InstructionId id = 0; id < slot_count(); ++id) {
    if ((*this)[id].is_live()) new_ids[static_cast<size_t>(id)] = next++;
  }
  const auto renumber = [&](InstructionId& id) {
    if (id != kNoInstruction) id = new_ids[static_cast<size_t>(id)];
  };
  ChunkedVector<Instruction> compact;
  OpcodeSet opcodes;
  for (InstructionId id = 0; id < slot_count(); ++id) {
    Instruction& instruction = mutable_instruction(id);
    if (!instruction.is_live()) continue;
    for (InstructionId& operand : instruction.operands_) renumber(operand);
    for (InstructionId& user : instruction.users_) renumber(user);
    instruction.id_ = new_ids[static_cast<size_t>(id)];
    opcodes.Insert(instruction.opcode());
    compact.push_back(std::move(instruction));
  }
  instructions_ = std::move(compact);
  opcodes_ = opcodes;
  renumber(root_);
  for (InstructionId& parameter : parameters_) renumber(parameter);
  control_.Renumber(
      [&](InstructionId id) { return new_ids[static_cast<size_t>(id)]; });
}

std::vector<InstructionId> Computation::PostOrder() const {
  enum : uint8_t { kNew, kOpen, kDone };
  std::vector<uint8_t> state(static_cast<size_t>(slot_count()), kNew);
  std::vector<InstructionId> order;
  order.reserve(static_cast<size_t>(live_count_));
  struct Frame {
    InstructionId id;
    size_t next;
  };
  std::vector<Frame> stack;
  auto visit = [&](InstructionId start) {
    if (state[static_cast<size_t>(start)] != kNew) return;
    state[static_cast<size_t>(start)] = kOpen;
    stack.push_back({start, 0});
    while (!stack.empty()) {
      Frame& frame = stack.back();
      const Instruction& instruction = (*this)[frame.id];
      const auto control = control_predecessors(frame.id);
      const size_t operand_count = instruction.operands_.size();
      InstructionId next = kNoInstruction;
      while (frame.next < operand_count + control.size()) {
        const size_t i = frame.next++;
        const InstructionId candidate = i < operand_count
                                            ? instruction.operands_[i]
                                            : control[i - operand_count];
        if (state[static_cast<size_t>(candidate)] == kNew) {
          next = candidate;
          break;
        }
      }
      if (next != kNoInstruction) {
        state[static_cast<size_t>(next)] = kOpen;
        stack.push_back({next, 0});
        continue;
      }
      state[static_cast<size_t>(frame.id)] = kDone;
      order.push_back(frame.id);
      stack.pop_back();
    }
  };
  if (root_ != kNoInstruction) visit(root_);
  for (InstructionId id = 0; id < slot_count(); ++id) {
    if ((*this)[id].is_live()) visit(id);
  }
  return order;
}

std::vector<InstructionId> Computation::LiveInstructions() const {
  std::vector<InstructionId> ids;
  ids.reserve(static_cast<size_t>(live_count_));
  for (InstructionId id = 0; id < slot_count(); ++id) {
    if ((*this)[id].is_live()) ids.push_back(id);
  }
  return ids;
}

void Computation::AddUser(InstructionId operand, InstructionId user) {
  mutable_instruction(operand).users_.push_back(user);
}

void Computation::RemoveUser(InstructionId operand, InstructionId user) {
  InstructionIds& users = mutable_instruction(operand).users_;
  // From the back: passes mostly touch the youngest users, and a constant may
  // have thousands.
  for (size_t i = users.size(); i-- > 0;) {
    if (users[i] == user) {
      users[i] = users.back();
      users.pop_back();
      return;
    }
  }
  HONE_CHECK(false && "not a user");
}

bool Computation::Uses(InstructionId user, InstructionId operand) const {
  const InstructionIds& operands = (*this)[user].operands_;
  return std::find(operands.begin(), operands.end(), operand) != operands.end();
}

}  // namespace hone::hlo
