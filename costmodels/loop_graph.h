#ifndef HONE_COSTMODELS_LOOP_GRAPH_H_
#define HONE_COSTMODELS_LOOP_GRAPH_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"

#include "loops/ir/program.h"
#include "loops/transforms/machine.h"
#include "space/observation.h"

namespace hone::costmodels {

// A loop program as a policy or a cost model sees it. Nodes are the kernel, its
// loops, statements, accesses and the buffers that these mention; the number of
// accesses times the depth of the tree bounds the number of edges. Data flows
// from buffers through loads to statements, through stores to buffers, and
// through `next` from each child of a body to the one after it; `contains`
// leads from a body to its children, and `iterates` from a loop to the accesses
// that move with it, with their stride. Equal programs, as text, look equal.
space::ObservationSpec KernelObservationSpec();

struct ObservedKernel {
  space::Observation observation;
  // The nodes of loops and statements, and of the kernel (an empty path).
  absl::flat_hash_map<loops::Path, int32_t> places;
  // The nodes of buffers.
  absl::flat_hash_map<loops::BufferId, int32_t> buffers;
};

// `machine` is what the program is tuned for.
ObservedKernel ObserveKernel(const loops::Program& program,
                             const loops::Machine& machine);

}  // namespace hone::costmodels

#endif  // HONE_COSTMODELS_LOOP_GRAPH_H_
