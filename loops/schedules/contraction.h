#ifndef HONE_LOOPS_SCHEDULES_CONTRACTION_H_
#define HONE_LOOPS_SCHEDULES_CONTRACTION_H_

#include "loops/schedules/scheduler.h"

namespace hone::loops {

// Schedules the nest at `path` of the root if it is a contraction with its
// first value and what is done with each element afterwards, if anything, or
// sums the rows of a matrix: a
// tile of the result in registers from its first value to the last step, its
// columns in vectors, the columns' factor in panels that lie in the order in
// which they are read where there are rows enough to pay for that. Tiles at the
// edge are computed in whole vectors, of which a part is stored.
// Returns whether it was. Parts that come off the nest follow it.
// Source of the tile and the panels: Goto and van de Geijn, "Anatomy of
// high-performance matrix multiplication", 2008.
bool ScheduleContraction(Scheduler& scheduler, const Path& path);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_CONTRACTION_H_
