#include "graphs/node_rules.h"

#include "graphs/value_origins.h"

namespace hone::graphs {

using hlo::Instruction;
using hlo::Opcode;

bool IsStored(Opcode opcode) {
  return opcode == Opcode::kConstant || opcode == Opcode::kParameter;
}

bool DoesWork(Opcode opcode) {
  return !OnlyPassesValues(opcode) && !IsStored(opcode);
}

bool Completes(Opcode second, Opcode first) {
  switch (second) {
    case Opcode::kAllGatherDone:
      return first == Opcode::kAllGatherStart;
    case Opcode::kAllReduceDone:
      return first == Opcode::kAllReduceStart;
    case Opcode::kAsyncDone:
    case Opcode::kAsyncUpdate:
      return first == Opcode::kAsyncStart || first == Opcode::kAsyncUpdate;
    case Opcode::kCollectivePermuteDone:
      return first == Opcode::kCollectivePermuteStart;
    case Opcode::kCopyDone:
      return first == Opcode::kCopyStart;
    case Opcode::kRecvDone:
      return first == Opcode::kRecv;
    case Opcode::kSendDone:
      return first == Opcode::kSend;
    default:
      return false;
  }
}

bool MakesNode(const hlo::Computation& computation, hlo::InstructionId id) {
  const Instruction& instruction = computation[id];
  const Opcode opcode = instruction.opcode();
  if (!DoesWork(opcode)) return false;
  return instruction.operand_count() == 0 ||
         !Completes(opcode, computation[instruction.operand(0)].opcode());
}

}  // namespace hone::graphs
