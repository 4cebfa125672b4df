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
int64_t ProductsOfTypes(const Program& program, const Machine& machine,
                        const Contraction& contraction);
// The same, but 1 if a factor is not a load, possibly converted.
int64_t ProductsAtOnce(const Program& program, const Machine& machine,
                       const Contraction& contraction);

// Vectorizes the nest at `path`, which copies a panel whose last dimension has
// `products` adjacent steps of a sum.
void VectorizeInterleavedCopy(Scheduler& scheduler, const Path& path,
                              int64_t products);

// Returns true for a nest that copies to a local whose last dimension has a few
// adjacent steps of a sum that are strided in what it reads.
bool IsInterleavedCopy(const Program& program, const Path& path);
// Schedules such a nest; returns false for any other one.
bool ScheduleInterleavedCopy(Scheduler& scheduler, const Path& path);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_INTERLEAVED_PANELS_H_
