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

std::vector<ComputationId> OwnedBy(const Computation& computation) {
  std::vector<ComputationId> owned;
  // Most computations have no such instruction.
  if (!computation.opcodes().Intersects(Owners())) return owned;
  for (const Instruction& instruction : computation.instructions()) {
    if (!OwnsCallees(instruction.opcode())) continue;
    const ComputationIds& called = instruction.called();
    owned.insert(owned.end(), called.begin(), called.end());
  }
  return owned;
}

std::vector<ComputationId> RewritableComputations(const Module& module) {
  IdMap<bool> owned;
  for (const Computation& computation : module.computations()) {
    for (ComputationId id : OwnedBy(computation)) owned[id] = true;
  }
  std::vector<ComputationId> ids;
  for (const Computation& computation : module.computations()) {
    if (!owned.at(computation.id())) ids.push_back(computation.id());
  }
  return ids;
}

}  // namespace hone::hlo
