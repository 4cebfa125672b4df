#ifndef HONE_LOOPS_SCHEDULES_PEEL_BOUNDS_H_
#define HONE_LOOPS_SCHEDULES_PEEL_BOUNDS_H_

#include "loops/schedules/scheduler.h"

namespace hone::loops {

// Peels the last iteration of every loop at or below `path` that the bound of
// another loop depends on, so that no bounds remain. The peeled parts follow
// the nest, and have no bounds either.
void PeelBounds(Scheduler& scheduler, const Path& path);

// Peels the loops at or below `path` that have locals inside (tiles) where the
// ranges of kWhere start or stop to hold, so that the interior has no
// conditions. The peeled parts follow the nest.
void PeelRanges(Scheduler& scheduler, const Path& path);

// Removes vectors at or below `path` that are completely past their bound, and
// lets the others overrun their bounds where that is legal.
void ComputeWholeVectors(Scheduler& scheduler, const Path& path);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_PEEL_BOUNDS_H_
