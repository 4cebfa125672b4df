#ifndef HONE_COSTMODELS_LOOP_TRAFFIC_H_
#define HONE_COSTMODELS_LOOP_TRAFFIC_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"

#include "costmodels/loop_footprint.h"
#include "costmodels/loop_work.h"
#include "loops/ir/program.h"
#include "loops/transforms/machine.h"

namespace hone::costmodels {

// Returns the bytes of a buffer up to its last element.
double BufferBytes(const loops::Buffer& buffer);

// The place of an access among loops.
struct PlacedAccess {
  // Loops around it that move it, outermost first: their positions on its path,
  // and how.
  struct Moved {
    size_t position = 0;
    StridedLoop loop;
  };
  absl::InlinedVector<Moved, 8> moved;
  // Levels around it, the kernel first.
  absl::InlinedVector<int32_t, 12> path;
};

// Counts what `work`, which has everything else, leaves open: the sets of its
// levels, and the footprints and the traffic of its accesses. `placed` is by
// access.
void CountTraffic(const loops::Program& program, const loops::Machine& machine,
                  const std::vector<PlacedAccess>& placed, LoopWork& work);

}  // namespace hone::costmodels

#endif  // HONE_COSTMODELS_LOOP_TRAFFIC_H_
