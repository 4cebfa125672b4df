#ifndef HONE_BENCH_PLACEMENT_PUBLIC_GRAPHS_H_
#define HONE_BENCH_PLACEMENT_PUBLIC_GRAPHS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "graphs/device_graph.h"

namespace hone::bench {

// A graph of bench/data/graphs (bench/data/README.md).
struct PublicGraph {
  std::string name;
  graphs::DeviceGraph graph;
  // The max load of the authors' exact program, if it finishes.
  std::optional<double> published;
  // The device of each node by the split of human experts that the authors
  // compare with, if there is one; it may break constraints.
  std::optional<std::vector<int32_t>> expert;
};

// Reads the graphs of DIRECTORY/manifest.json whose name contains a match of
// the regular expression `only` (empty: all), in the manifest's order, with the
// experts' splits that are named there. Errors: NotFound without a manifest, a
// graph or a split; InvalidArgument for a broken one, a bad expression, or if
// nothing matches.
absl::StatusOr<std::vector<PublicGraph>> ReadPublicGraphs(
    const std::string& directory, const std::string& only);

}  // namespace hone::bench

#endif  // HONE_BENCH_PLACEMENT_PUBLIC_GRAPHS_H_
