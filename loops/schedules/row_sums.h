#ifndef HONE_LOOPS_SCHEDULES_ROW_SUMS_H_
#define HONE_LOOPS_SCHEDULES_ROW_SUMS_H_

#include "loops/schedules/scheduler.h"

namespace hone::loops {

// Schedules the nest at `path` of the root if it sums, or combines otherwise,
// along contiguous rows, and nothing else but what is done with each sum:
// several rows at once, each with vectors of partial results, as memory gives
// more to several streams than to one. Returns whether it was. Parts that come
// off the nest follow it.
bool ScheduleRowSums(Scheduler& scheduler, const Path& path);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_ROW_SUMS_H_
