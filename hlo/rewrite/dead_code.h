#ifndef HONE_HLO_REWRITE_DEAD_CODE_H_
#define HONE_HLO_REWRITE_DEAD_CODE_H_

#include "hlo/ir/module.h"
#include "hlo/rewrite/rewriter.h"

namespace hone::hlo {

// Removes the instructions of one computation that neither its root nor an
// effect needs: all but parameters, opaque instructions and callers of them,
// ends of control dependencies, and what these use. Keeps the order of the
// others, so that the module may be scheduled. Returns true if there were any;
// the computation stays shared if not.
bool RemoveDeadInstructions(Module& module, ComputationId computation_id);

// Likewise, through a rewriter of that computation that is in use.
void RemoveDeadInstructions(Rewriter& r);

}  // namespace hone::hlo

#endif  // HONE_HLO_REWRITE_DEAD_CODE_H_
