#ifndef HONE_LOOPS_SCHEDULES_SCANS_H_
#define HONE_LOOPS_SCHEDULES_SCANS_H_

#include "loops/schedules/scheduler.h"

namespace hone::loops {

// Unrolls the innermost loops at or below `path` whose iterations are
// independent recurrences over the loop around them, such as the running sums
// of several rows: their latencies then overlap. If an iteration computes
// transcendental functions, it becomes a vector lane instead. Leaves out loops
// with contiguous stores, which VectorizeInnermost does better.
void InterleaveScans(Scheduler& scheduler, const Path& path);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_SCANS_H_
