#ifndef HONE_HLO_ANALYSIS_OP_COUNT_H_
#define HONE_HLO_ANALYSIS_OP_COUNT_H_

#include <cstdint>

#include "hlo/ir/module.h"

namespace hone::hlo {

// The pass-order score `ops`: instructions of the entry computation with every
// call and fusion inlined, plus bodies, conditions and branches of control flow
// (while, conditional, async-start) once per site; regions applied per element
// (reduce, map, sort, scatter, reduce-window, select-and-scatter, custom calls)
// are not counted. Parameters, constants and tuples count. Saturates instead of
// overflowing.
int64_t CountOps(const Module& module);

}  // namespace hone::hlo

#endif  // HONE_HLO_ANALYSIS_OP_COUNT_H_
