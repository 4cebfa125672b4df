#ifndef HONE_LOOPS_SCHEDULES_PREFETCH_COPIES_H_
#define HONE_LOOPS_SCHEDULES_PREFETCH_COPIES_H_

#include "loops/schedules/scheduler.h"

namespace hone::loops {

// Lets loops that copy panels of matrices larger than L1 to locals prefetch
// rows ahead: the processor does not predict the jumps from row to row.
void PrefetchCopies(Scheduler& scheduler);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_PREFETCH_COPIES_H_
