#ifndef HONE_LOOPS_SCHEDULES_ROW_BLOCKS_H_
#define HONE_LOOPS_SCHEDULES_ROW_BLOCKS_H_

#include <cstddef>
#include <cstdint>

#include "loops/ir/program.h"
#include "loops/schedules/scheduler.h"
#include "loops/transforms/machine.h"

namespace hone::loops {

// Nests over the same rows that share a loop over blocks of these, in which
// they stay apart.
struct RowBlocks {
  int64_t rows = 1;  // of a block; 1 if nests share no blocks
  // The number of loops around the one over rows in every nest.
  size_t outer = 0;
};

// Joins dimensions of the rows of such a program if the innermost has too few
// rows for blocks.
void JoinRows(Scheduler& scheduler);

// Returns the blocks that pay off by default: for programs in which every nest
// goes over the same rows, and one reduces them to their maximum, or numbers of
// 16 bits, which take a chain of instructions per element: several rows at a
// time hide its latency. A block takes a third of L1, or all of it if that is
// eight rows.
RowBlocks RowBlocksFor(const Program& program, const Machine& machine);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_ROW_BLOCKS_H_
