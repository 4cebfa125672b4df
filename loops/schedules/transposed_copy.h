#ifndef HONE_LOOPS_SCHEDULES_TRANSPOSED_COPY_H_
#define HONE_LOOPS_SCHEDULES_TRANSPOSED_COPY_H_

#include "loops/schedules/scheduler.h"

namespace hone::loops {

// Schedules the nest at `path` if it copies to an array in which a few steps of
// a sum are adjacent, and rows before and behind them, what is contiguous along
// other loops, such as those over the window in the weights of an NCHW
// convolution: blocks of the two are transposed in registers. Returns false for
// any other nest.
bool ScheduleTransposedCopy(Scheduler& scheduler, const Path& path);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_TRANSPOSED_COPY_H_
