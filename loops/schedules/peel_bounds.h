#ifndef HONE_LOOPS_SCHEDULES_PEEL_BOUNDS_H_
#define HONE_LOOPS_SCHEDULES_PEEL_BOUNDS_H_

#include "loops/schedules/scheduler.h"

namespace hone::loops {

// Takes the last iteration of every scope at or below `path` off on which the
// bound of another one depends, so that what is left has none; the parts that
// come off follow, and have none either.
void PeelBounds(Scheduler& scheduler, const Path& path);

// Cuts the scopes at or below `path` that have locals inside, tiles, where the
// ranges of wheres begin or end to hold: away from the border nothing asks for
// them. The parts that come off follow.
void PeelRanges(Scheduler& scheduler, const Path& path);

// Takes vectors that are past their bound throughout out of what is at or below
// `path`, and lets the others run past their bounds where that is legal.
void ComputeWholeVectors(Scheduler& scheduler, const Path& path);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_PEEL_BOUNDS_H_
