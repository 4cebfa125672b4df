#ifndef HONE_LOOPS_SCHEDULES_PEEL_BOUNDS_H_
#define HONE_LOOPS_SCHEDULES_PEEL_BOUNDS_H_

#include "loops/schedules/scheduler.h"

namespace hone::loops {

// Takes the last iteration of every scope at or below `path` off on which the
// bound of another one depends, so that what is left has none; the parts that
// come off follow, and have none either.
void PeelBounds(Scheduler& scheduler, const Path& path);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_PEEL_BOUNDS_H_
