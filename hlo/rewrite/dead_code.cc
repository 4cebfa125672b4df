#include "hlo/rewrite/dead_code.h"

#include <algorithm>
#include <vector>

namespace hone::hlo {
namespace {

bool IsDead(const Module& module, const Computation& computation,
            InstructionId id) {
  const Instruction& instruction = computation[id];
  return instruction.is_live() && instruction.users().empty() &&
         id != computation.root() &&
         instruction.opcode() != Opcode::kParameter &&
         !module.HasSideEffect(instruction) &&
         !computation.HasControlDependency(id);
}

}  // namespace

bool RemoveDeadInstructions(Module& module, ComputationId computation_id) {
  const Computation& shared = module.computation(computation_id);
  std::vector<InstructionId> dead;
  for (InstructionId id = 0; id < shared.slot_count(); ++id) {
    if (IsDead(module, shared, id)) dead.push_back(id);
  }
  if (dead.empty()) return false;
  Computation& computation = module.mutable_computation(computation_id);
  while (!dead.empty()) {
    const InstructionId id = dead.back();
    dead.pop_back();
    const InstructionIds operands = computation[id].operands();
    computation.Remove(id);
    for (size_t i = 0; i < operands.size(); ++i) {
      const auto here = operands.begin() + i;
      const bool repeated = std::find(operands.begin(), here, *here) != here;
      if (!repeated && IsDead(module, computation, *here)) {
        dead.push_back(*here);
      }
    }
  }
  return true;
}

void RemoveDeadInstructions(Rewriter& r) {
  const std::vector<InstructionId> order = r.computation().PostOrder();
  for (auto id = order.rbegin(); id != order.rend(); ++id) r.RemoveDead(*id);
}

}  // namespace hone::hlo
