#include "hlo/equivalence/signs.h"

#include <cstddef>

#include "absl/container/flat_hash_set.h"

namespace hone::hlo {
namespace {

bool IsRoot(Opcode opcode) {
  switch (opcode) {
    case Opcode::kLog:
    case Opcode::kLogPlusOne:
    case Opcode::kPower:
    case Opcode::kRsqrt:
    case Opcode::kSqrt:
      return true;
    default:
      return false;
  }
}

// Returns true if the operation computes or moves element by element: sums of
// many elements do not tell the sign of one.
bool KeepsElements(Opcode opcode) {
  switch (opcode) {
    case Opcode::kBitcast:
    case Opcode::kBroadcast:
    case Opcode::kConcatenate:
    case Opcode::kPad:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return true;
    default:
      return IsElementwise(opcode);
  }
}

}  // namespace

std::vector<bool> ParametersUnderRoots(const Module& module) {
  const Computation& entry = module.entry_computation();
  std::vector<bool> under_roots(entry.parameters().size());
  absl::flat_hash_set<InstructionId> seen;
  std::vector<InstructionId> stack;
  for (InstructionId id : entry.PostOrder()) {
    if (IsRoot(entry[id].opcode())) stack.push_back(entry[id].operand(0));
  }
  while (!stack.empty()) {
    const InstructionId id = stack.back();
    stack.pop_back();
    if (!seen.insert(id).second) continue;
    const Instruction& instruction = entry[id];
    if (instruction.opcode() == Opcode::kParameter) {
      under_roots[static_cast<size_t>(instruction.index())] = true;
    } else if (KeepsElements(instruction.opcode())) {
      for (InstructionId operand : instruction.operands()) {
        stack.push_back(operand);
      }
    }
  }
  return under_roots;
}

}  // namespace hone::hlo
