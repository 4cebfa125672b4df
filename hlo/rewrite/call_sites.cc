#include "hlo/rewrite/call_sites.h"

#include <algorithm>

namespace hone::hlo {

std::vector<int> CountCallers(const Module& module) {
  std::vector<int> callers(static_cast<size_t>(module.computation_slots()));
  for (const Computation& computation : module.computations()) {
    AddCallersOf(computation, callers);
  }
  return callers;
}

void AddCallersOf(const Computation& computation, std::vector<int>& callers) {
  for (const Instruction& instruction : computation.instructions()) {
    for (ComputationId callee : instruction.called()) {
      ++callers[static_cast<size_t>(callee)];
    }
  }
}

bool UsesElementsOnly(const Computation& computation, InstructionId tuple) {
  const InstructionIds& users = computation[tuple].users();
  return tuple != computation.root() &&
         std::all_of(users.begin(), users.end(), [&](InstructionId user) {
           return computation[user].opcode() == Opcode::kGetTupleElement;
         });
}

bool IsSharded(const Instruction& instruction) {
  const auto& others = instruction.attributes().others;
  return std::any_of(others.begin(), others.end(), [](const auto& attribute) {
    return attribute.first == "sharding";
  });
}

}  // namespace hone::hlo
