#ifndef HONE_LOOPS_SCHEDULES_ROW_SUMS_H_
#define HONE_LOOPS_SCHEDULES_ROW_SUMS_H_

#include "loops/schedules/scheduler.h"

namespace hone::loops {

// Schedules the nest at `path` of the root if it is a reduction along
// contiguous rows, with an optional epilogue per result. Returns false if it is
// not. Processes several rows at once, each with vectors of partial results,
// since several memory streams have more bandwidth than one. Nests that are
// split off follow the nest at `path`.
bool ScheduleRowSums(Scheduler& scheduler, const Path& path);

// Schedules a matrix product as sums along rows if one factor is contiguous
// along the sum, and the other one has so few rows or columns that vectors of
// the result would be mostly idle; it is transposed in front of the nest if it
// is not contiguous, too. Two steps are one if an instruction adds products of
// adjacent bf16. Returns false, with nothing changed, for other nests.
bool ScheduleFewDots(Scheduler& s, const Path& path);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_ROW_SUMS_H_
