#ifndef HONE_GRAPHS_TOPOLOGICAL_ORDERS_H_
#define HONE_GRAPHS_TOPOLOGICAL_ORDERS_H_

#include <vector>

#include "absl/types/span.h"

#include "graphs/adjacency.h"

namespace hone::graphs {

// Topological orders of an acyclic graph beside TopologicalOrder, which is
// depth first.

// Takes nodes in the order in which they become ready. Linear time.
std::vector<NodeIndex> BreadthFirstOrder(const Adjacency& graph);

// Depth first from the ends: a node comes as late as it can before its first
// successor. Linear time.
std::vector<NodeIndex> ReverseOrder(const Adjacency& graph);

// Takes of the nodes that are ready the one of the highest priority, of equal
// ones the first. `priorities` has one for each node. Time O(nodes log nodes +
// arcs).
std::vector<NodeIndex> OrderByPriorities(const Adjacency& graph,
                                         absl::Span<const float> priorities);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_TOPOLOGICAL_ORDERS_H_
