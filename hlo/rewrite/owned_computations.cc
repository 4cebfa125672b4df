#include "hlo/rewrite/owned_computations.h"

#include "hlo/ir/id_map.h"

namespace hone::hlo {
namespace {

// An opcode that Hone does not know may be either kind.
const OpcodeSet& Owners() {
  static const OpcodeSet owners = {Opcode::kAsyncDone, Opcode::kAsyncStart,
                                   Opcode::kAsyncUpdate, Opcode::kFusion,
                                   Opcode::kUnknown};
  return owners;
}

}  // namespace

bool OwnsCallees(Opcode opcode) { return Owners().Contains(opcode); }

std::vector<ComputationId> RewritableComputations(const Module& module) {
  IdMap<bool> owned;
  for (const Computation& computation : module.computations()) {
    // Most computations have no such instruction.
    if (!computation.opcodes().Intersects(Owners())) continue;
    for (const Instruction& instruction : computation.instructions()) {
      if (!OwnsCallees(instruction.opcode())) continue;
      for (ComputationId callee : instruction.called()) owned[callee] = true;
    }
  }
  std::vector<ComputationId> ids;
  for (const Computation& computation : module.computations()) {
    if (!owned.at(computation.id())) ids.push_back(computation.id());
  }
  return ids;
}

}  // namespace hone::hlo
