#ifndef HONE_LOOPS_SCHEDULES_TRANSPOSED_COPY_H_
#define HONE_LOOPS_SCHEDULES_TRANSPOSED_COPY_H_

#include "loops/schedules/scheduler.h"

namespace hone::loops {

// Schedules the nest at `path` if it copies an operand to a panel in which a
// few steps of the sum are innermost and rows next to them, and if the operand
// is contiguous along other loops, such as the window of the weights of an NCHW
// convolution: blocks of rows and window are transposed in registers. Returns
// false, with nothing changed, for any other nest.
bool ScheduleTransposedCopy(Scheduler& scheduler, const Path& path);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_TRANSPOSED_COPY_H_
