#ifndef HONE_LOOPS_ANALYSIS_VERIFIER_H_
#define HONE_LOOPS_ANALYSIS_VERIFIER_H_

#include "absl/status/status.h"

#include "loops/ir/program.h"

namespace hone::loops {

// Returns an error unless the program is well formed:
// - variables are used only inside their loop, and are unique on their path;
// - accesses have the right rank, type and memory;
// - indices are in bounds in every iteration, given the ranges of kWhere and
//   the bounds of loops; data-dependent indices are not checked;
// - arguments and constants are never written;
// - locals are declared exactly once, above all their uses;
// - indices of register buffers use variables of unrolled and vector loops
//   only;
// - vector loops have no inner loops or locals;
// - parallel loops are not nested;
// - operations are defined on the types of their operands;
// - strides let no elements overlap, and are row-major for arguments and
//   results;
// - constants have values;
// - numbers in indices are at most 2^56.
// It does not check that modes preserve the meaning; dependences.h does.
// Errors: InvalidArgument, with the path of the node.
absl::Status VerifyProgram(const Program& program);

}  // namespace hone::loops

#endif  // HONE_LOOPS_ANALYSIS_VERIFIER_H_
