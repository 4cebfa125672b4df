#ifndef HONE_BENCH_PARTITION_PARTITION_GRAPHS_H_
#define HONE_BENCH_PARTITION_PARTITION_GRAPHS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "graphs/mcm/package.h"
#include "graphs/mcm/partition_graph.h"

namespace hone::bench {

// A graph of the list DIRECTORY/manifest.json, {"name", "family", "split",
// "file"}: a module, or a weighted graph; `split` is "train", "validation" or
// "test", the same for all graphs of a family.
struct PartitionEntry {
  std::string name;
  std::string family;
  std::string split;
  std::string path;
};

// Returns the graphs of a split, or of all if it is empty, whose names match
// `only`. Errors: those of ReadJsonFile; InvalidArgument for another list, an
// expression that is none, or if nothing matches.
absl::StatusOr<std::vector<PartitionEntry>> ReadPartitionEntries(
    const std::string& directory, const std::string& split,
    const std::string& only);

// Reads a graph and makes it one for a package. Errors: those of reading it,
// and of PartitionGraph::Create.
absl::StatusOr<graphs::PartitionGraph> ReadPartitionGraph(
    const PartitionEntry& entry, const graphs::Package& package);

}  // namespace hone::bench

#endif  // HONE_BENCH_PARTITION_PARTITION_GRAPHS_H_
