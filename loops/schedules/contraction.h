#ifndef HONE_LOOPS_SCHEDULES_CONTRACTION_H_
#define HONE_LOOPS_SCHEDULES_CONTRACTION_H_

#include "loops/schedules/scheduler.h"

namespace hone::loops {

// Schedules the nest at `path` of the root if it is a contraction, with its
// initialization and an optional epilogue per element, or a sum over the rows
// of a matrix. Returns false if it is neither.
//
// A tile of the result stays in registers from its initialization to its last
// step, with its columns in vectors. If there are enough rows to pay for it,
// the columns' operand is copied to panels in the order in which it is read.
// Tiles at the edge compute whole vectors and store a part of them. Nests that
// are split off follow the nest at `path`. Source of the tile and the panels:
// Goto and van de Geijn, "Anatomy of high-performance matrix multiplication",
// 2008.
bool ScheduleContraction(Scheduler& scheduler, const Path& path);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_CONTRACTION_H_
