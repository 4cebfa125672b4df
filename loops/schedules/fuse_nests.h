#ifndef HONE_LOOPS_SCHEDULES_FUSE_NESTS_H_
#define HONE_LOOPS_SCHEDULES_FUSE_NESTS_H_

#include <cstddef>
#include <cstdint>

#include "loops/schedules/scheduler.h"

namespace hone::loops {

// Fuses adjacent loops wherever that is legal, first at the root and then
// inside, except contractions and sums over rows: a loop then reads the values
// of the previous one from a register or from L1. Moves statements between two
// loops out of the way, and reorders loops that are not innermost, to make
// loops adjacent.
void FuseNests(Scheduler& scheduler);

// Splits loops of adjacent nests into blocks of `rows` iterations and fuses the
// nests block by block, wherever that is legal, with the same exceptions:
// inside a block they stay apart. Of each nest, that is the loop inside `outer`
// others, which are fused. Returns false if there are no such nests.
bool FuseRowBlocks(Scheduler& scheduler, int64_t rows, size_t outer);

// Fuses the outermost loops of scheduled nests, including contractions, if a
// heap local can then shrink to one iteration, so that the next nest reads it
// from a cache.
void FuseOutermost(Scheduler& scheduler);

// Shrinks every local as far as the loops that use it allow, and moves locals
// that became small to registers or to the stack.
void ShrinkLocals(Scheduler& scheduler);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_FUSE_NESTS_H_
