#ifndef HONE_LOOPS_SCHEDULES_INTERLEAVED_PANELS_H_
#define HONE_LOOPS_SCHEDULES_INTERLEAVED_PANELS_H_

#include <cstdint>

#include "loops/schedules/nest.h"
#include "loops/schedules/scheduler.h"
#include "loops/transforms/machine.h"

namespace hone::loops {

// Returns the number of steps of the sum of a contraction that one instruction
// of the machine takes at once, according to its types; 1 if there is no such
// instruction.
int64_t ProductsAtOnce(const Program& program, const Machine& machine,
                       const Contraction& contraction);

// Vectorizes the nest at `path`, which copies a panel whose last dimension has
// `products` adjacent steps of a sum.
void VectorizeInterleavedCopy(Scheduler& scheduler, const Path& path,
                              int64_t products);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_INTERLEAVED_PANELS_H_
