#ifndef HONE_LOOPS_LOWERING_REWRITES_SEPARATE_WINDOWS_H_
#define HONE_LOOPS_LOWERING_REWRITES_SEPARATE_WINDOWS_H_

#include "hlo/ir/module.h"

namespace hone::loops {

// Replaces reductions over large windows in several dimensions by one reduction
// per dimension: a window of a × b elements takes a + b steps instead of a · b.
// Applies to associative and commutative operations on a single array, except
// those that would round to 16 bits in between. Calls must be inlined.
void SeparateWindows(hlo::Module& module);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_REWRITES_SEPARATE_WINDOWS_H_
