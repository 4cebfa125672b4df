#ifndef HONE_HLO_REWRITE_OWNED_COMPUTATIONS_H_
#define HONE_HLO_REWRITE_OWNED_COMPUTATIONS_H_

#include <vector>

#include "hlo/ir/module.h"

namespace hone::hlo {

// A fusion says how its computation is emitted, whose parameters all have
// users, and an asynchronous operation wraps exactly one instruction in a
// computation that nothing else calls. Such computations belong to their
// callers: passes neither rewrite, merge nor share them. Those that they call
// in turn are ordinary.

// Returns true if an instruction of that opcode owns what it calls.
bool OwnsCallees(Opcode opcode);

// The computations that instructions of `computation` own.
std::vector<ComputationId> OwnedBy(const Computation& computation);

// The computations of `module` that no instruction owns, by ascending id.
std::vector<ComputationId> RewritableComputations(const Module& module);

}  // namespace hone::hlo

#endif  // HONE_HLO_REWRITE_OWNED_COMPUTATIONS_H_
