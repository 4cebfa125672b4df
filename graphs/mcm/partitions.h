#ifndef HONE_GRAPHS_MCM_PARTITIONS_H_
#define HONE_GRAPHS_MCM_PARTITIONS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"

#include "graphs/mcm/partition_graph.h"
#include "graphs/placements.h"

namespace hone::graphs {

// Methods that construct a partition: one chip for each node. Each returns a
// partition that CheckPartition accepts, or nothing.
using Partition = std::vector<int32_t>;

// Fills one chip after the other along a topological order, each up to an equal
// share of the work, without evaluating anything, as a compiler without a
// search does. A node that would need an output from two chips before, which no
// chain of chips may do, takes all nodes since with it to the chip after that
// output. Linear time, but for nodes that are moved so.
std::optional<Partition> FillGreedily(const PartitionGraph& graph);

// Returns the partition with the least max load (chip_loads.h) whose chips are
// intervals of `order`, a topological order, each of which reads from the one
// before only. That is exact for the order and chains of chips; chips whose
// graph branches are not covered. With a `tolerance` above 0, its load may be
// larger than the least by that share, which takes a part of the time. Nothing
// also once `stop` returns true.
// Orders of more than 4,000 nodes are cut between as many chunks of nodes in a
// row. Time O(pairs * log(pairs)), for the pairs of a first and a last chunk of
// an interval that may be a chip: about chunks^2 / chips; and nodes * chunks.
// Source: the dynamic program of Archer et al., "Practical performance
// guarantees for pipelined DNN inference", ICML 2024, section 3, with the
// triangle rule of chains.
std::optional<Partition> PartitionSegments(const PartitionGraph& graph,
                                           absl::Span<const NodeIndex> order,
                                           const StopCondition& stop,
                                           double tolerance = 0);

// The best of PartitionSegments for three topological orders: depth first,
// depth first from the ends, breadth first.
std::optional<Partition> PartitionByOrders(const PartitionGraph& graph,
                                           const StopCondition& stop);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_MCM_PARTITIONS_H_
