#ifndef HONE_HLO_TILES_NETWORK_STAGES_H_
#define HONE_HLO_TILES_NETWORK_STAGES_H_

#include "hlo/ir/instruction.h"

namespace hone::hlo {

// Returns how often an instruction passes over all of its array, 1 for most:
// the stages of a bitonic sort, those of a Fourier transform, the steps of a
// factorization or a triangular solve, one for each row.
double NetworkStages(const Instruction& instruction);

}  // namespace hone::hlo

#endif  // HONE_HLO_TILES_NETWORK_STAGES_H_
