#ifndef HONE_HLO_PASSES_CONTROL_FLOW_SELECT_BRANCHES_H_
#define HONE_HLO_PASSES_CONTROL_FLOW_SELECT_BRANCHES_H_

#include "hlo/rewrite/callees.h"
#include "hlo/rewrite/rewriter.h"

namespace hone::hlo {

// Returns true if the conditional `id`, which may be replaced
// (Rewriter::MayReplace), can become a select: two branches on a pred, surely
// ending loops only, and as result arrays of static sizes or tuples of such.
// Dynamic arrays may have another size in each branch; tokens cannot be
// selected.
bool MaySelectBranches(const Rewriter& r, InstructionId id);

// conditional(p, x, y), branches f and g  →  select(p, f(x), g(y)), inlined, of
// each array of the result. Returns false, and changes nothing, beyond the
// budget.
bool SelectBranches(Rewriter& r, InstructionId id, Callees& callees);

// Returns true if the branch computes something, but nothing that costs more
// than to move data or an elementwise operation.
bool IsCheapBranch(const Computation& branch);

}  // namespace hone::hlo

#endif  // HONE_HLO_PASSES_CONTROL_FLOW_SELECT_BRANCHES_H_
