#ifndef HONE_GRAPHS_MCM_PARTITION_BOUNDS_H_
#define HONE_GRAPHS_MCM_PARTITION_BOUNDS_H_

#include "graphs/mcm/partition_graph.h"

namespace hone::graphs {

// Lower bounds of the max load, in milliseconds, that hold for every partition,
// up to rounding. Transfers count as free.
struct PartitionBounds {
  // All work, shared by the chips as if nodes could be cut in pieces.
  double shared_work = 0;
  // The largest node.
  double largest_node = 0;
  // Of any q * chips + 1 nodes, some chip has q + 1.
  double pigeonhole = 0;

  // The best of them.
  double greatest() const;
};

// Time O(nodes log nodes).
PartitionBounds FindPartitionBounds(const PartitionGraph& graph);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_MCM_PARTITION_BOUNDS_H_
