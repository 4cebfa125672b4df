#include "hlo/rewrite/dead_code.h"

#include <vector>

#include "hlo/rewrite/rewriter.h"

namespace hone::hlo {
namespace {

// The instructions without users that may go, the youngest first: the youngest
// users of an operand are found fastest.
std::vector<InstructionId> Unused(const Computation& computation) {
  std::vector<InstructionId> unused;
  for (const Instruction& instruction : computation.instructions()) {
    if (instruction.users().empty() &&
        instruction.opcode() != Opcode::kParameter &&
        instruction.id() != computation.root()) {
      unused.push_back(instruction.id());
    }
  }
  return {unused.rbegin(), unused.rend()};
}

}  // namespace

bool RemoveDeadInstructions(Module& module, ComputationId computation_id) {
  if (Unused(module.computation(computation_id)).empty()) return false;
  const RewriteOptions options;
  Rewriter r(module, computation_id, options);
  RemoveDeadInstructions(r);
  return r.changed();
}

void RemoveDeadInstructions(Rewriter& r) {
  for (InstructionId id : Unused(r.computation())) r.RemoveDead(id);
}

}  // namespace hone::hlo
