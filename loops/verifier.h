#ifndef HONE_LOOPS_VERIFIER_H_
#define HONE_LOOPS_VERIFIER_H_

#include "absl/status/status.h"

#include "loops/program.h"

namespace hone::loops {

// Whether a program is well formed: variables used under their scope only and
// unique on their path; accesses of the right rank, type and memory; indices in
// bounds for every iteration (ranges of wheres and bounds of scopes taken into
// account), but for those that depend on data; arguments and constants never
// written; locals declared exactly once, above all their uses; indices of
// buffers in registers made of variables of unrolled and vector scopes; vector
// scopes without inner scopes or locals; no parallel scope in another;
// operations on types that they are defined on; strides by which no elements
// overlap, row-major for what callers see; constants with values; no number
// among indices above 2^56. It does not say whether modes keep the meaning:
// dependences.h does. Errors: InvalidArgument, with the path of the node.
absl::Status VerifyProgram(const Program& program);

}  // namespace hone::loops

#endif  // HONE_LOOPS_VERIFIER_H_
