#include <algorithm>
#include <limits>

#include "graphs/block_graph.h"
#include "graphs/cut_order.h"
#include "graphs/placements.h"
#include "graphs/topological_orders.h"

namespace hone::graphs {

std::optional<Placement> PlaceSegments(const DeviceGraph& graph,
                                       const StopCondition& stop) {
  std::optional<Placement> best;
  double best_load = std::numeric_limits<double>::infinity();
  for (const BackwardDirection direction :
       {BackwardDirection::kReverse, BackwardDirection::kSame}) {
    const BlockGraph blocks = GatherBlocks(graph, direction);
    for (const auto& order :
         {TopologicalOrder(blocks.order), ReverseOrder(blocks.order),
          BreadthFirstOrder(blocks.order)}) {
      CutOrder(graph, blocks, order, stop, best_load, best);
    }
    const bool has_backward =
        std::any_of(graph.nodes().begin(), graph.nodes().end(),
                    [](const DeviceNode& node) { return node.is_backward; });
    if (!has_backward) break;
  }
  return best;
}

}  // namespace hone::graphs
