#ifndef HONE_LOOPS_SCHEDULES_ROW_LANES_H_
#define HONE_LOOPS_SCHEDULES_ROW_LANES_H_

#include "loops/schedules/scheduler.h"

namespace hone::loops {

// Makes rows the lanes of vectors in the nest at `path`, if its rows are short
// and reduced, as in softmax or argmax over a few elements: nothing is combined
// across lanes, and no lanes are idle. The code generator transposes blocks of
// rows in registers. Returns false, with nothing changed, for any other nest.
// Parts that are split off follow the nest.
bool ScheduleRowLanes(Scheduler& s, const Path& path);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_ROW_LANES_H_
