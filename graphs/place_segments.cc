#include <algorithm>
#include <cstddef>
#include <limits>

#include "graphs/block_graph.h"
#include "graphs/cut_order.h"
#include "graphs/placements.h"

namespace hone::graphs {
namespace {

// A topological order that takes blocks in the order in which they become
// ready.
std::vector<NodeIndex> BreadthFirstOrder(const Adjacency& graph) {
  std::vector<size_t> missing(graph.size());
  std::vector<NodeIndex> order;
  order.reserve(graph.size());
  for (size_t i = 0; i < graph.size(); ++i) {
    missing[i] = graph.predecessors(static_cast<NodeIndex>(i)).size();
    if (missing[i] == 0) order.push_back(static_cast<NodeIndex>(i));
  }
  for (size_t i = 0; i < order.size(); ++i) {
    for (const NodeIndex next : graph.successors(order[i])) {
      if (--missing[next] == 0) order.push_back(next);
    }
  }
  return order;
}

// Depth first from the ends.
std::vector<NodeIndex> ReverseOrder(const Adjacency& graph) {
  std::vector<Arc> arcs;
  for (size_t i = 0; i < graph.size(); ++i) {
    const auto node = static_cast<NodeIndex>(i);
    for (const NodeIndex next : graph.successors(node)) {
      arcs.push_back({next, node});
    }
  }
  std::vector<NodeIndex> order =
      TopologicalOrder(Adjacency(graph.size(), arcs));
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace

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
