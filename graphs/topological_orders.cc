#include "graphs/topological_orders.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <utility>

namespace hone::graphs {

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

std::vector<NodeIndex> OrderByPriorities(const Adjacency& graph,
                                         absl::Span<const float> priorities) {
  // The highest priority first, then the first node.
  using Ready = std::pair<float, NodeIndex>;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  std::vector<size_t> missing(graph.size());
  const auto add = [&](NodeIndex node) {
    ready.push({-priorities[node], node});
  };
  for (size_t i = 0; i < graph.size(); ++i) {
    const auto node = static_cast<NodeIndex>(i);
    missing[i] = graph.predecessors(node).size();
    if (missing[i] == 0) add(node);
  }
  std::vector<NodeIndex> order;
  order.reserve(graph.size());
  while (!ready.empty()) {
    order.push_back(ready.top().second);
    ready.pop();
    for (const NodeIndex next : graph.successors(order.back())) {
      if (--missing[next] == 0) add(next);
    }
  }
  return order;
}

}  // namespace hone::graphs
