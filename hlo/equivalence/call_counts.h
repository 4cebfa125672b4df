#ifndef HONE_HLO_EQUIVALENCE_CALL_COUNTS_H_
#define HONE_HLO_EQUIVALENCE_CALL_COUNTS_H_

#include <vector>

#include "hlo/ir/module.h"

namespace hone::hlo {

// By computation, the number of ways in which the entry reaches it through
// calls: 1 for the entry, 0 for what it does not reach. A body, a branch or a
// region counts as called once. Inlining a call, or giving each call a copy of
// its callee, leaves the numbers of instructions that these counts weigh as
// they are. Doubles, as they grow exponentially with nested calls.
std::vector<double> CallCounts(const Module& module);

}  // namespace hone::hlo

#endif  // HONE_HLO_EQUIVALENCE_CALL_COUNTS_H_
