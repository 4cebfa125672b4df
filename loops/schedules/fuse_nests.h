#ifndef HONE_LOOPS_SCHEDULES_FUSE_NESTS_H_
#define HONE_LOOPS_SCHEDULES_FUSE_NESTS_H_

#include "loops/schedules/scheduler.h"

namespace hone::loops {

// Fuses neighbouring scopes, at the root and then inside, wherever that is
// legal, contractions left out: what one computes the next one finds in a
// register or in the first cache. Statements that stand between two scopes move
// up or down to let them meet, and scopes that are not innermost change places.
void FuseNests(Scheduler& scheduler);

// Fuses the outermost scopes of nests that are scheduled, contractions among
// them, where a local on the heap then holds what one iteration makes of it:
// the next nest finds that in a cache.
void FuseOutermost(Scheduler& scheduler);

// Makes every local as small as the scopes allow that use it, and moves those
// that became small to registers or to the stack.
void ShrinkLocals(Scheduler& scheduler);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_FUSE_NESTS_H_
