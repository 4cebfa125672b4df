#ifndef HONE_HLO_REWRITE_NAMED_REGION_H_
#define HONE_HLO_REWRITE_NAMED_REGION_H_

#include "hlo/ir/module.h"

namespace hone::hlo {

// Adds a computation that a pass made. Where its name is taken, it gets the
// first of NAME.1, NAME.2, … that is not. Takes time in the number of
// computations.
ComputationId AddNamedRegion(Module& module, Computation region);

// Adds a region `(a, b) -> a + b` of scalars.
ComputationId AddSumRegion(Module& module, ElementType type);

}  // namespace hone::hlo

#endif  // HONE_HLO_REWRITE_NAMED_REGION_H_
