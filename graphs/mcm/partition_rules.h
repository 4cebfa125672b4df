#ifndef HONE_GRAPHS_MCM_PARTITION_RULES_H_
#define HONE_GRAPHS_MCM_PARTITION_RULES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"

#include "graphs/mcm/partition_graph.h"

namespace hone::graphs {

// Violations of the rules of a package by a partition, one chip for each node:
// 1. Data flows to equal or higher chips only.
// 2. The chips that have nodes are 0 … m, without a gap.
// 3. No chip sends to another one directly that it also reaches over others
//    (the triangle rule: the chips' graph is its own transitive reduction).
// 4. What is on a chip from the start fits in its memory.
// Source: Xie et al., "A transferable approach for partitioning machine
// learning models on multi-chip-modules", MLSys 2022, section 2; that the used
// chips are a prefix of all, and that sources have copies, is our reading.
struct PartitionFaults {
  int64_t backward_arcs = 0;
  int32_t gaps = 0;         // empty chips before the last one used
  int32_t shortcuts = 0;    // pairs of chips that break the triangle rule
  double excess_bytes = 0;  // too many for their chips, in all

  // 0 if there are none: the share of all arcs that flow back, of the chips
  // that are gaps, of pairs of chips that are shortcuts, and the excess
  // relative to the memory of all chips.
  double violation = 0;
};

// `chips` has a chip of the package for each node. Linear time.
PartitionFaults FindFaults(const PartitionGraph& graph,
                           absl::Span<const int32_t> chips);

// Returns OK if a partition has no faults.
// Errors: InvalidArgument, with a message that names the rule, the nodes and
// the chips, or if there is not one chip of the package for each node.
absl::Status CheckPartition(const PartitionGraph& graph,
                            absl::Span<const int32_t> chips);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_MCM_PARTITION_RULES_H_
