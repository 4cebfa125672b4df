#ifndef HONE_HLO_REWRITE_REGIONS_NAMED_REGION_H_
#define HONE_HLO_REWRITE_REGIONS_NAMED_REGION_H_

#include "hlo/ir/module.h"

namespace hone::hlo {

// Computations that passes add. A rewrite adds one last, when nothing can keep
// it from using it: a module that is reported unchanged has none. Each function
// takes time in the number of computations.

// Adds `region`. If its name is taken, it gets the first of NAME.1, NAME.2, …
// that is not.
ComputationId AddNamedRegion(Module& module, Computation region);

// Adds a region `(a, b) -> a + b` of scalars.
ComputationId AddSumRegion(Module& module, ElementType type);

// A region `(a, b) -> a + b` of scalars: one of the module, or a new one.
ComputationId FindOrAddSumRegion(Module& module, ElementType type);

}  // namespace hone::hlo

#endif  // HONE_HLO_REWRITE_REGIONS_NAMED_REGION_H_
