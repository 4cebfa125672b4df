#ifndef HONE_BENCH_PLACEMENT_EXPERT_SPLIT_H_
#define HONE_BENCH_PLACEMENT_EXPERT_SPLIT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "graphs/device_graph.h"

namespace hone::bench {

// Parses a placement that experts have published for a graph, and returns the
// device of each node. The text is {"fpgas": [{"nodes": [ID, ...]}, ...],
// "cpus": ...}, one entry a device; devices without an entry have no nodes. The
// loads in it are ignored, and constraints are not checked.
// Errors: InvalidArgument, "FILE: …", for text that is not that, more entries
// than devices, and nodes that the graph does not have, that are on two
// devices, or on none.
absl::StatusOr<std::vector<int32_t>> ParseExpertSplit(
    absl::string_view text, absl::string_view file,
    const graphs::DeviceGraph& graph);

}  // namespace hone::bench

#endif  // HONE_BENCH_PLACEMENT_EXPERT_SPLIT_H_
