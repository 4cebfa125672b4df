#ifndef HONE_TESTS_GRAPHS_MCM_RANDOM_PARTITION_GRAPH_H_
#define HONE_TESTS_GRAPHS_MCM_RANDOM_PARTITION_GRAPH_H_

#include <cstddef>
#include <cstdint>

#include "base/rng.h"
#include "graphs/mcm/package.h"
#include "graphs/mcm/partition_graph.h"
#include "graphs/op_graph.h"

namespace hone::testing {

// A package with round figures: 1e9 flops/s and bytes/s, links of 1e9 bytes/s.
graphs::Package SmallPackage(int32_t chips, double memory_bytes);

// A random operator graph for it, of `nodes` nodes in an order that need not be
// topological: chains, residual connections or anything, with weights, and
// sources that several nodes read.
graphs::OpGraph RandomLayers(Rng& rng, size_t nodes);

// The partition graph of it, with some node left. Memory is ample, or so that
// about half of the partitions fit.
graphs::PartitionGraph RandomPartitionGraph(Rng& rng, size_t nodes,
                                            int32_t chips,
                                            bool is_tight = false);

}  // namespace hone::testing

#endif  // HONE_TESTS_GRAPHS_MCM_RANDOM_PARTITION_GRAPH_H_
