#ifndef HONE_LOOPS_LOWERING_REWRITES_UNROLL_LOOPS_H_
#define HONE_LOOPS_LOWERING_REWRITES_UNROLL_LOOPS_H_

#include "hlo/ir/module.h"

namespace hone::loops {

// Unrolls while loops of a few iterations whose bodies are elementwise, such as
// the rounds of a random number generator: their iterations then fuse, instead
// of passing whole arrays through memory. Calls must be inlined and dead
// instructions removed. Returns true if the module changed.
bool UnrollElementwiseLoops(hlo::Module& module);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_REWRITES_UNROLL_LOOPS_H_
