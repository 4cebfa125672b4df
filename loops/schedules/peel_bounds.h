#ifndef HONE_LOOPS_SCHEDULES_PEEL_BOUNDS_H_
#define HONE_LOOPS_SCHEDULES_PEEL_BOUNDS_H_

#include <cstdint>

#include "loops/schedules/scheduler.h"

namespace hone::loops {

// Peels the last iteration of every loop at or below `path` that the bound of
// another loop depends on, so that no bounds remain. The peeled parts follow
// the nest, and have no bounds either.
void PeelBounds(Scheduler& scheduler, const Path& path);

// Peels the loops at or below `path` that have locals inside (tiles) where the
// ranges of kWhere start or stop to hold, so that the interior has no
// conditions, at most `most` times. The peeled parts follow the nest.
void PeelRanges(Scheduler& scheduler, const Path& path, int most);

// Peels the innermost loop at `path` where a range of kWhere starts or stops to
// hold, if both parts have at least `least` iterations: loads whose lanes are
// all masked off are slow where no memory is. The second part follows the
// first. Returns false, with nothing changed, if there is no such place.
bool PeelLongRange(Scheduler& scheduler, const Path& path, int64_t least);

// Removes vectors at or below `path` that are completely past their bound, and
// lets the others overrun their bounds where that is legal.
void ComputeWholeVectors(Scheduler& scheduler, const Path& path);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_PEEL_BOUNDS_H_
