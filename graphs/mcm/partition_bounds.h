#ifndef HONE_GRAPHS_MCM_PARTITION_BOUNDS_H_
#define HONE_GRAPHS_MCM_PARTITION_BOUNDS_H_

#include <optional>

#include "graphs/mcm/partition_graph.h"
#include "graphs/mcm/partitions.h"

namespace hone::graphs {

// Lower bounds of the max load, in milliseconds, that hold for every partition,
// up to rounding.
struct PartitionBounds {
  // All work, shared by the chips as if nodes could be cut in pieces.
  double shared_work = 0;
  // The largest node.
  double largest_node = 0;
  // Some chip has q + 1 of any q * chips + 1 nodes.
  double pigeonhole = 0;
  // The least max load where the triangle rule does not hold and copies of
  // sources cost nothing (graphs/ideals.h); 0 where that is not found within
  // bounds of memory and work.
  double pipeline = 0;
  // A partition with that load, if it keeps all rules.
  std::optional<Partition> best_pipeline = std::nullopt;

  // The best of them.
  double greatest() const;
};

// Time O(nodes log nodes), and for `pipeline` seconds at most, which ends early
// once `stop` returns true.
PartitionBounds FindPartitionBounds(const PartitionGraph& graph,
                                    const StopCondition& stop);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_MCM_PARTITION_BOUNDS_H_
