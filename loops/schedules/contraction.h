#ifndef HONE_LOOPS_SCHEDULES_CONTRACTION_H_
#define HONE_LOOPS_SCHEDULES_CONTRACTION_H_

#include "loops/schedules/scheduler.h"

namespace hone::loops {

// Schedules the nest at `path` of the root if it is a contraction with its
// initialisation and nothing else: a tile of the result in registers around the
// sums, its columns in vectors, the columns' factor in panels that lie in the
// order in which they are read where there are rows enough to pay for that.
// Returns whether it was. Parts that come off the nest follow it.
// Source of the tile and the panels: Goto and van de Geijn, "Anatomy of
// high-performance matrix multiplication", 2008.
bool ScheduleContraction(Scheduler& scheduler, const Path& path);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_CONTRACTION_H_
