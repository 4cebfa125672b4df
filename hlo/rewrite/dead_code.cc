#include "hlo/rewrite/dead_code.h"

#include <vector>

#include "hlo/rewrite/rewriter.h"

namespace hone::hlo {

bool RemoveDeadInstructions(Module& module, ComputationId computation_id) {
  const Computation& computation = module.computation(computation_id);
  std::vector<InstructionId> unused;
  for (const Instruction& instruction : computation.instructions()) {
    if (instruction.users().empty() &&
        instruction.opcode() != Opcode::kParameter &&
        instruction.id() != computation.root()) {
      unused.push_back(instruction.id());
    }
  }
  if (unused.empty()) return false;
  const RewriteOptions options;
  Rewriter r(module, computation_id, options);
  // Backwards: the youngest users of an operand are found fastest.
  for (auto it = unused.rbegin(); it != unused.rend(); ++it) r.RemoveDead(*it);
  return r.changed();
}

void RemoveDeadInstructions(Rewriter& r) {
  const std::vector<InstructionId> order = r.computation().PostOrder();
  for (auto id = order.rbegin(); id != order.rend(); ++id) r.RemoveDead(*id);
}

}  // namespace hone::hlo
