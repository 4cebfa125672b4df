#include "tests/graphs/contiguity_by_definition.h"

#include <algorithm>
#include <numeric>

namespace hone::testing {
namespace {

using graphs::DeviceGraph;
using graphs::NodeIndex;

// The nodes of a part, or of a part on one device, as bits.
uint32_t Nodes(const DeviceGraph& graph, bool backward) {
  uint32_t nodes = 0;
  for (NodeIndex i = 0; i < graph.size(); ++i) {
    if (graph.node(i).is_backward == backward) nodes |= 1u << i;
  }
  return nodes;
}
uint32_t NodesOn(const std::vector<int32_t>& assignment, int32_t device) {
  uint32_t nodes = 0;
  for (size_t i = 0; i < assignment.size(); ++i) {
    if (assignment[i] == device) nodes |= 1u << i;
  }
  return nodes;
}

// True if `nodes` contains the predecessors in `part` of its nodes.
bool IsIdeal(const DeviceGraph& graph, uint32_t part, uint32_t nodes) {
  for (NodeIndex i = 0; i < graph.size(); ++i) {
    if ((nodes >> i & 1) == 0) continue;
    for (const NodeIndex before : graph.adjacency().predecessors(i)) {
      if ((part >> before & 1) != 0 && (nodes >> before & 1) == 0) return false;
    }
  }
  return true;
}

// True if the unions of the first sets are all ideals of the part.
bool ArePrefixesIdeals(const DeviceGraph& graph, uint32_t part,
                       const std::vector<uint32_t>& sets) {
  uint32_t prefix = 0;
  for (const uint32_t set : sets) {
    prefix |= set & part;
    if (!IsIdeal(graph, part, prefix)) return false;
  }
  return true;
}

}  // namespace

bool IsConvexByDefinition(const DeviceGraph& graph,
                          const std::vector<int32_t>& assignment) {
  for (const bool backward : {false, true}) {
    const uint32_t part = Nodes(graph, backward);
    std::vector<uint32_t> ideals;
    for (uint32_t set = 0; set < 1u << graph.size(); ++set) {
      if ((set & ~part) == 0 && IsIdeal(graph, part, set)) {
        ideals.push_back(set);
      }
    }
    for (int32_t device = 0; device < graph.device_count(); ++device) {
      const uint32_t nodes = NodesOn(assignment, device) & part;
      const bool found =
          std::any_of(ideals.begin(), ideals.end(), [&](uint32_t larger) {
            return std::any_of(
                ideals.begin(), ideals.end(),
                [&](uint32_t smaller) { return (larger & ~smaller) == nodes; });
          });
      if (!found) return false;
    }
  }
  return true;
}

bool IsPipelineByDefinition(const DeviceGraph& graph,
                            const std::vector<int32_t>& assignment) {
  const uint32_t forward = Nodes(graph, false);
  const uint32_t backward = Nodes(graph, true);
  std::vector<int32_t> order(static_cast<size_t>(graph.device_count()));
  std::iota(order.begin(), order.end(), 0);
  do {
    std::vector<uint32_t> sets;
    for (const int32_t device : order) {
      sets.push_back(NodesOn(assignment, device));
    }
    if (!ArePrefixesIdeals(graph, forward, sets)) continue;
    if (ArePrefixesIdeals(graph, backward, sets)) return true;
    std::reverse(sets.begin(), sets.end());
    if (ArePrefixesIdeals(graph, backward, sets)) return true;
  } while (std::next_permutation(order.begin(), order.end()));
  return false;
}

}  // namespace hone::testing
