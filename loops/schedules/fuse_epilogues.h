#ifndef HONE_LOOPS_SCHEDULES_FUSE_EPILOGUES_H_
#define HONE_LOOPS_SCHEDULES_FUSE_EPILOGUES_H_

#include "loops/schedules/scheduler.h"

namespace hone::loops {

// Fuses every contraction and sum over rows at the root with the nests after it
// that process each element of its result, such as adding a bias, so that they
// read it from registers.
void FuseEpilogues(Scheduler& scheduler);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_FUSE_EPILOGUES_H_
