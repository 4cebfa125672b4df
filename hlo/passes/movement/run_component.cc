#include "hlo/passes/movement/run_component.h"

#include <cstddef>

#include "absl/algorithm/container.h"

#include "hlo/passes/algsimp/rules.h"
#include "hlo/passes/movement/group_move.h"
#include "hlo/rewrite/dimensions.h"
#include "hlo/rewrite/values.h"

namespace hone::hlo {

DimensionVector ResultInOperand(const Rewriter& r, InstructionId id) {
  const Instruction& instruction = r[id];
  return instruction.opcode() == Opcode::kReduce
             ? OtherDimensions(instruction.dimensions(),
                               r.shape(instruction.operand(0)).rank())
             : instruction.dimensions();
}

bool RunComponent::Grow(InstructionId seed, int64_t position) {
  bool consistent = Reach(seed, position);
  while (!pending_.empty() && consistent) {
    const InstructionId id = pending_.back();
    pending_.pop_back();
    const int64_t at = positions_.at(id);
    if (const auto operand = OperandPosition(id, at)) {
      members_[id] = true;
      if (*operand != kNoPosition) {
        for (InstructionId o : r_[id].operands()) {
          if (IsCarriedTo(id, o)) consistent &= Reach(o, *operand);
        }
      }
    }
    for (InstructionId user : r_[id].users()) {
      const int64_t result = ResultPosition(user, id, at);
      if (result != kNoPosition && OperandPosition(user, result) == at) {
        consistent &= Reach(user, result);
      }
    }
  }
  return consistent;
}

bool RunComponent::IsCarriedTo(InstructionId id, InstructionId operand) const {
  switch (r_[id].opcode()) {
    case Opcode::kBroadcast:
    case Opcode::kTranspose:
      return true;
    case Opcode::kReduce:
      return operand == r_.operand(id, 0);
    default:
      return r_.dimensions_of(operand) == r_.dimensions_of(id);
  }
}

bool RunComponent::IsMerge(InstructionId user, InstructionId id) const {
  return r_.Is(user, Opcode::kReshape) && IsMover(r_, user) &&
         r_.dimensions_of(user) ==
             Merged(r_.dimensions_of(id), run_, PositionOf(id));
}

bool RunComponent::IsSplit(InstructionId id) const {
  return r_.Is(id, Opcode::kReshape) && IsMover(r_, id) &&
         r_.dimensions_of(r_.operand(id, 0)) ==
             Merged(r_.dimensions_of(id), run_, PositionOf(id));
}

InstructionId RunComponent::ExistingMerge(InstructionId id) const {
  for (InstructionId user : r_[id].users()) {
    if (IsMerge(user, id)) return user;
  }
  if (!r_.Is(id, Opcode::kReshape)) return kNoInstruction;
  const DimensionVector merged =
      Merged(r_.dimensions_of(id), run_, PositionOf(id));
  for (InstructionId other : r_[r_.operand(id, 0)].users()) {
    if (r_.Is(other, Opcode::kReshape) && r_.dimensions_of(other) == merged) {
      return other;
    }
  }
  return kNoInstruction;
}

int RunComponent::Cost() const {
  int cost = 0;
  for (InstructionId id : values_) {
    cost += IsMember(id) ? UserCost(id) : OutsideCost(id);
  }
  return cost;
}

bool RunComponent::Reach(InstructionId id, int64_t position) {
  if (positions_.at(id) == position) return true;
  if (positions_.at(id) != kNoPosition) return false;
  positions_[id] = position;
  values_.push_back(id);
  pending_.push_back(id);
  return true;
}

std::optional<int64_t> RunComponent::OperandPosition(InstructionId id,
                                                     int64_t position) const {
  const Instruction& instruction = r_[id];
  if (!instruction.shape().IsArray() || instruction.shape().is_dynamic() ||
      !r_.MayReplace(id)) {
    return std::nullopt;
  }
  switch (instruction.opcode()) {
    case Opcode::kBroadcast:
      return PositionIn(instruction.dimensions(), run_, position);
    case Opcode::kIota:
      return PositionIn(instruction.dimensions(), run_, position) == kNoPosition
                 ? std::optional<int64_t>(kNoPosition)
                 : std::nullopt;
    case Opcode::kReduce:
      if (instruction.operand_count() != 2) return std::nullopt;
      [[fallthrough]];
    case Opcode::kTranspose: {
      const DimensionVector numbers = ResultInOperand(r_, id);
      for (size_t i = 1; i < run_.size(); ++i) {
        const auto p = static_cast<size_t>(position);
        if (numbers[p + i] != numbers[p] + static_cast<int64_t>(i)) {
          return std::nullopt;
        }
      }
      return numbers[static_cast<size_t>(position)];
    }
    default:
      if (!IsElementwise(instruction.opcode()) ||
          IsOpaque(instruction.opcode()) ||
          instruction.opcode() == Opcode::kCopy ||
          instruction.opcode() == Opcode::kBitcastConvert ||
          instruction.operand_count() == 0) {
        return std::nullopt;
      }
      return position;
  }
}

int64_t RunComponent::ResultPosition(InstructionId user, InstructionId operand,
                                     int64_t position) const {
  const Instruction& instruction = r_[user];
  switch (instruction.opcode()) {
    case Opcode::kBroadcast: {
      const DimensionVector& mapping = instruction.dimensions();
      return mapping[static_cast<size_t>(position)];
    }
    case Opcode::kReduce:
      if (instruction.operand(0) != operand) return kNoPosition;
      [[fallthrough]];
    case Opcode::kTranspose:
      return PositionIn(ResultInOperand(r_, user), run_, position)
          .value_or(kNoPosition);
    default:
      return IsElementwise(instruction.opcode()) &&
                     r_.dimensions_of(user) == r_.dimensions_of(operand)
                 ? position
                 : kNoPosition;
  }
}

int RunComponent::UserCost(InstructionId id) const {
  int cost = 0;
  bool splits = id == r_.computation().root();
  for (InstructionId user : r_[id].users()) {
    if (IsMember(user)) continue;
    if (IsMerge(user, id)) {
      cost -= user == r_.computation().root() ? 0 : 1;
    } else {
      splits |= !Absorbs(user, id);
    }
  }
  return cost + (splits ? 1 : 0);
}

bool RunComponent::Absorbs(InstructionId user, InstructionId id) const {
  const Instruction& instruction = r_[user];
  if (instruction.opcode() == Opcode::kReshape) return IsMover(r_, user);
  if (instruction.opcode() != Opcode::kReduce ||
      instruction.operand_count() != 2 || instruction.operand(0) != id ||
      !algsimp::MayReorder(r_, user)) {
    return false;
  }
  // The whole run is reduced, or none of it.
  return PositionIn(ResultInOperand(r_, user), run_, PositionOf(id)) ==
         kNoPosition;
}

int RunComponent::OutsideCost(InstructionId id) const {
  const auto reads = [&](InstructionId user) { return IsMember(user); };
  if (absl::c_none_of(r_[id].users(), reads)) return 0;
  const bool dies = id != r_.computation().root() &&
                    !r_.Is(id, Opcode::kParameter) &&
                    absl::c_all_of(r_[id].users(), reads);
  if (IsSplit(id)) return dies ? -1 : 0;
  if (ConstantLiteral(r_.computation(), id) != nullptr ||
      r_.Is(id, Opcode::kReshape)) {
    const bool is_there = ExistingMerge(id) != kNoInstruction;
    return (is_there ? 0 : 1) - (dies ? 1 : 0);
  }
  return ExistingMerge(id) != kNoInstruction ? 0 : 1;
}

}  // namespace hone::hlo
