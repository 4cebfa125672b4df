#ifndef HONE_LOOPS_SCHEDULES_REGISTER_TILE_H_
#define HONE_LOOPS_SCHEDULES_REGISTER_TILE_H_

#include <cstdint>

#include "loops/ir/path.h"
#include "loops/ir/program.h"
#include "loops/schedules/scheduler.h"

namespace hone::loops {

// Accumulates what the loop at `path` computes of `target`, a tile with vectors
// of `lanes` along its columns, in a local in registers. Does nothing if the
// tile cannot be a local.
void KeepInRegisters(Scheduler& s, const Path& path, BufferId target,
                     int64_t lanes);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_REGISTER_TILE_H_
