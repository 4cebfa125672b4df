#ifndef HONE_GRAPHS_ROOFLINE_H_
#define HONE_GRAPHS_ROOFLINE_H_

#include "absl/status/statusor.h"

#include "graphs/cluster.h"
#include "graphs/device_graph.h"
#include "graphs/op_graph.h"

namespace hone::graphs {

// Returns the graph of `ops` to be placed on `cluster`, with the same nodes and
// edges. Times are in milliseconds:
// - a node takes the launch overhead of a device plus the larger of flops /
// peak
//   and bytes / bandwidth, nothing if it has neither flops nor bytes. A kind
//   that the cluster lacks has the latency of the other;
// - its size is that of its weights and its result. That is what it takes at
//   most: a device that frees results early needs less than the sum;
// - a transfer takes the latency of the link plus bytes / bandwidth. The format
//   has one cost for all edges of a source, so it is that of the edge with the
//   most bytes, which is all of them unless parts of a tuple are read;
// - every node runs on every kind, and is part of the forward pass.
// Raise kHloImportVersion (hlo_import.h) whenever this changes.
// Errors: InvalidArgument for a cluster with several kinds of accelerators,
// CPUs or links; if a node fits on no device, naming it; and what
// DeviceGraph::Create refuses.
// Source: the roofline of Williams, Waterman and Patterson, 2009.
absl::StatusOr<DeviceGraph> MakeDeviceGraph(const OpGraph& ops,
                                            const Cluster& cluster);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_ROOFLINE_H_
