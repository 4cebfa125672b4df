#include "hlo/passes/control_flow/loop_invariants.h"

#include <algorithm>
#include <string>

#include "hlo/passes/control_flow/while_trip_count.h"
#include "hlo/rewrite/carried_attributes.h"

namespace hone::hlo {
namespace {

// Returns true if the instruction binds the body to the loop, so that nothing
// moves.
bool PinsBody(const Instruction& instruction) {
  const std::string& target = instruction.attributes().custom_call_target;
  return instruction.opcode() == Opcode::kDomain ||
         (instruction.opcode() == Opcode::kCustomCall &&
          (target == "SPMDFullToShardShape" ||
           target == "SPMDShardShapeToFull" ||
           target == "annotate_device_placement" || target == "MoveToDevice" ||
           target == "MoveToHost"));
}

// Returns true if the instruction is moved only with one that uses it.
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

}  // namespace

LoopInvariants::LoopInvariants(LoopRewriter& loop) : loop_(loop) {
  const auto instructions = body().instructions();
  if (std::any_of(instructions.begin(), instructions.end(), PinsBody)) return;
  order_ = body().PostOrder();
  bool hands_on = false;
  bool moves = false;
  for (InstructionId id : order_) {
    placements_[id] = PlacementOf(id);
    hands_on |= IsElement(id);
    moves |= placements_.at(id) == Placement::kMoves;
  }
  any_ = hands_on && moves;
}

bool LoopInvariants::IsElement(InstructionId id) const {
  // The copy outside would take the initial value, without annotations.
  if (!loop_.IsRead(id) || !loop_.HandsOn(body()[id].index()) ||
      IsAnnotated(body()[id])) {
    return false;
  }
  const Shape& initial = loop_.outside().shape(loop_.init());
  return body()[id].shape().IsArray() &&
         Shape::Equal(body()[id].shape(),
                      *initial.tuple_element(body()[id].index()),
                      /*ignore_layout=*/false);
}

// The placement of an instruction whose operands have theirs.
Placement LoopInvariants::PlacementOf(InstructionId id) const {
  const Instruction& instruction = body()[id];
  if (IsElement(id)) return Placement::kAvailable;
  const InstructionIds& operands = instruction.operands();
  const Module& module = loop_.outside().module();
  if (instruction.opcode() == Opcode::kParameter ||
      std::any_of(operands.begin(), operands.end(),
                  [&](InstructionId operand) {
                    return placements_.at(operand) == Placement::kStays;
                  }) ||
      body().HasControlDependency(id) || module.HasSideEffect(instruction) ||
      !SurelyEnds(module, body(), id)) {
    return Placement::kStays;
  }
  return MovesWithAUserOnly(instruction.opcode()) ? Placement::kAvailable
                                                  : Placement::kMoves;
}

std::vector<InstructionId> LoopInvariants::Copied() const {
  IdMap<bool> needed;
  std::vector<InstructionId> copied;
  for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
    if (placements_.at(*it) != Placement::kMoves && !needed.at(*it)) continue;
    copied.push_back(*it);
    if (IsElement(*it)) continue;
    for (InstructionId operand : body()[*it].operands()) needed[operand] = true;
  }
  std::reverse(copied.begin(), copied.end());
  return copied;
}

InstructionIds LoopInvariants::StillUsed() const {
  IdMap<bool> stays;
  InstructionIds moved;
  for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
    const InstructionIds& users = body()[*it].users();
    const bool used =
        std::any_of(users.begin(), users.end(),
                    [&](InstructionId user) { return stays.at(user); });
    if (placements_.at(*it) == Placement::kMoves) {
      if (used) moved.push_back(*it);
      continue;
    }
    stays[*it] = used || *it == body().root() ||
                 placements_.at(*it) == Placement::kStays;
  }
  std::reverse(moved.begin(), moved.end());
  return moved;
}

}  // namespace hone::hlo
