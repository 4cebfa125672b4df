#ifndef HONE_LOOPS_SCHEDULES_SHORT_SUMS_H_
#define HONE_LOOPS_SCHEDULES_SHORT_SUMS_H_

#include "loops/schedules/scheduler.h"

namespace hone::loops {

// The fewest steps of a sum of which those that are left over, where an
// instruction takes several, are better added in another pass over the result.
inline constexpr int64_t kLeastStepsToPeel = 64;

// Extends sums of matrix products that are shorter and whose number of steps
// the instruction does not divide (interleaved_panels.h) by steps of zeros,
// which the copies of PadInputs will have.
void PadShortSums(Scheduler& scheduler);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_SHORT_SUMS_H_
