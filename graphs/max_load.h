#ifndef HONE_GRAPHS_MAX_LOAD_H_
#define HONE_GRAPHS_MAX_LOAD_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "graphs/contiguity.h"
#include "graphs/device_graph.h"

namespace hone::graphs {

// The time that each device is busy per sample. [devices]
struct DeviceLoads {
  std::vector<double> loads;
  double max_load = 0;
};

// Returns the loads of an assignment, one device per node in the order of the
// nodes. An assignment that breaks other constraints has loads, too.
// - A CPU core: the sum of cpu_latency of its nodes; transfers are free to it.
// - An accelerator: the sum of accelerator_latency of its nodes; the output
//   cost of each of its nodes whose output any other device needs, once; and
//   the output cost of each node elsewhere whose output it needs, once.
// Errors: InvalidArgument if there is not one device of the graph per node.
// Linear time.
// Source: Tarnawski et al., NeurIPS 2020, section 3, and the authors' program.
absl::StatusOr<DeviceLoads> ComputeLoads(const DeviceGraph& graph,
                                         absl::Span<const int32_t> assignment);

// Checks all constraints on an assignment: one device of the graph per node,
// memory of the accelerators, nodes that an accelerator does not support,
// color classes, and the contiguity that is asked for.
// Errors: InvalidArgument, with a message that names the first violation.
// Linear time, but for kConvex (CheckConvex).
absl::Status CheckAssignment(const DeviceGraph& graph,
                             absl::Span<const int32_t> assignment,
                             Contiguity contiguity);

// Returns true if nodes of `bytes` in all fit in an accelerator's memory. Sums
// of integers are exact; the tolerance is for rounding in sums of fractions.
inline bool FitsAccelerator(const DeviceLimits& limits, double bytes) {
  return bytes <= limits.max_accelerator_bytes * (1 + 1e-12);
}

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_MAX_LOAD_H_
