#ifndef HONE_LOOPS_VERIFIER_H_
#define HONE_LOOPS_VERIFIER_H_

#include "absl/status/status.h"

#include "loops/program.h"

namespace hone::loops {

// Whether a program is well formed: variables used under their scope only and
// unique on their path; accesses of the right rank, type and memory, their
// affine part in bounds for every iteration (where ranges, bounds of scopes and
// data-dependent offsets taken into account); arguments and constants never
// written; locals declared exactly once, above all their uses; vector scopes
// without inner scopes; no parallel scope in another.
// It does not say whether modes keep the meaning: dependences.h does.
// Errors: InvalidArgument, with the path of the node.
absl::Status VerifyProgram(const Program& program);

}  // namespace hone::loops

#endif  // HONE_LOOPS_VERIFIER_H_
