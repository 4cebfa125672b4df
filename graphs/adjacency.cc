#include "graphs/adjacency.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace hone::graphs {

Adjacency::Adjacency(size_t nodes, absl::Span<const Arc> arcs)
    : nodes_(nodes),
      successor_begin_(nodes + 1),
      successors_(arcs.size()),
      predecessor_begin_(nodes + 1),
      predecessors_(arcs.size()) {
  for (const Arc& arc : arcs) {
    HONE_CHECK(arc.source < nodes && arc.target < nodes);
    ++successor_begin_[arc.source + size_t{1}];
    ++predecessor_begin_[arc.target + size_t{1}];
  }
  for (size_t node = 0; node < nodes; ++node) {
    successor_begin_[node + 1] += successor_begin_[node];
    predecessor_begin_[node + 1] += predecessor_begin_[node];
  }
  std::vector<size_t> next_successor = successor_begin_;
  std::vector<size_t> next_predecessor = predecessor_begin_;
  for (const Arc& arc : arcs) {
    successors_[next_successor[arc.source]++] = arc.target;
    predecessors_[next_predecessor[arc.target]++] = arc.source;
  }
}

std::vector<NodeIndex> TopologicalOrder(const Adjacency& graph) {
  std::vector<size_t> missing(graph.size());
  std::vector<NodeIndex> ready;
  for (size_t i = graph.size(); i-- > 0;) {
    const auto node = static_cast<NodeIndex>(i);
    missing[i] = graph.predecessors(node).size();
    if (missing[i] == 0) ready.push_back(node);
  }
  std::vector<NodeIndex> order;
  order.reserve(graph.size());
  while (!ready.empty()) {
    const NodeIndex node = ready.back();
    ready.pop_back();
    order.push_back(node);
    for (const NodeIndex successor : graph.successors(node)) {
      if (--missing[successor] == 0) ready.push_back(successor);
    }
  }
  return order;
}

std::vector<NodeIndex> FindCycle(const Adjacency& graph) {
  const std::vector<NodeIndex> order = TopologicalOrder(graph);
  if (order.size() == graph.size()) return {};
  std::vector<bool> ordered(graph.size());
  for (const NodeIndex node : order) ordered[node] = true;
  // A node that has no place in the order has a predecessor that has none, so
  // that a walk against the arcs meets a node twice.
  NodeIndex node = 0;
  while (ordered[node]) ++node;
  constexpr size_t kUnseen = std::numeric_limits<size_t>::max();
  std::vector<size_t> position(graph.size(), kUnseen);
  std::vector<NodeIndex> walk;
  while (position[node] == kUnseen) {
    position[node] = walk.size();
    walk.push_back(node);
    for (const NodeIndex predecessor : graph.predecessors(node)) {
      if (!ordered[predecessor]) {
        node = predecessor;
        break;
      }
    }
  }
  walk.erase(walk.begin(),
             walk.begin() + static_cast<std::ptrdiff_t>(position[node]));
  std::reverse(walk.begin(), walk.end());
  // Begins with the first node of the graph that is on the cycle.
  std::rotate(walk.begin(), std::min_element(walk.begin(), walk.end()),
              walk.end());
  return walk;
}

std::vector<uint32_t> StrongComponents(const Adjacency& graph) {
  constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  std::vector<uint32_t> component(graph.size(), kNone);
  std::vector<uint32_t> entered(graph.size(), kNone);
  std::vector<uint32_t> lowest(graph.size());
  std::vector<NodeIndex> open;  // entered and without a component
  struct Frame {
    NodeIndex node;
    size_t next;
  };
  std::vector<Frame> stack;
  uint32_t time = 0;
  uint32_t components = 0;
  const auto enter = [&](NodeIndex node) {
    entered[node] = lowest[node] = time++;
    open.push_back(node);
    stack.push_back({node, 0});
  };
  for (size_t root = 0; root < graph.size(); ++root) {
    if (entered[root] != kNone) continue;
    enter(static_cast<NodeIndex>(root));
    while (!stack.empty()) {
      const NodeIndex node = stack.back().node;
      const absl::Span<const NodeIndex> successors = graph.successors(node);
      if (stack.back().next < successors.size()) {
        const NodeIndex successor = successors[stack.back().next++];
        if (entered[successor] == kNone) {
          enter(successor);
        } else if (component[successor] == kNone) {
          lowest[node] = std::min(lowest[node], entered[successor]);
        }
        continue;
      }
      stack.pop_back();
      if (!stack.empty()) {
        const NodeIndex caller = stack.back().node;
        lowest[caller] = std::min(lowest[caller], lowest[node]);
      }
      if (lowest[node] != entered[node]) continue;
      for (NodeIndex member = open.back();; member = open.back()) {
        open.pop_back();
        component[member] = components;
        if (member == node) break;
      }
      ++components;
    }
  }
  return component;
}

}  // namespace hone::graphs
