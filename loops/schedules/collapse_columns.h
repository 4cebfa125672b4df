#ifndef HONE_LOOPS_SCHEDULES_COLLAPSE_COLUMNS_H_
#define HONE_LOOPS_SCHEDULES_COLLAPSE_COLUMNS_H_

#include "loops/schedules/scheduler.h"

namespace hone::loops {

// Joins the loops over several dimensions of the columns of reductions over
// rows into one, if the innermost of them is shorter than a vector: in
// reductions over the outermost dimension of an array. All nests of the program
// have to allow it, since only nests of the same loops fuse.
void CollapseColumns(Scheduler& scheduler);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_COLLAPSE_COLUMNS_H_
