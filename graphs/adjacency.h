#ifndef HONE_GRAPHS_ADJACENCY_H_
#define HONE_GRAPHS_ADJACENCY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace hone::graphs {

// The position of a node in the order of its graph's nodes.
using NodeIndex = uint32_t;

struct Arc {
  NodeIndex source = 0;
  NodeIndex target = 0;
  friend auto operator<=>(const Arc&, const Arc&) = default;
};

// The arcs of a directed graph in compressed rows, in both directions.
// Neighbors are in the order of the arcs.
class Adjacency {
 public:
  Adjacency() = default;
  // The ends of all arcs must be less than `nodes`.
  Adjacency(size_t nodes, absl::Span<const Arc> arcs);

  size_t size() const { return nodes_; }
  absl::Span<const NodeIndex> successors(NodeIndex node) const {
    return absl::MakeConstSpan(successors_)
        .subspan(successor_begin_[node],
                 successor_begin_[node + size_t{1}] - successor_begin_[node]);
  }
  absl::Span<const NodeIndex> predecessors(NodeIndex node) const {
    return absl::MakeConstSpan(predecessors_)
        .subspan(
            predecessor_begin_[node],
            predecessor_begin_[node + size_t{1}] - predecessor_begin_[node]);
  }

 private:
  size_t nodes_ = 0;
  std::vector<size_t> successor_begin_ = {0};    // [nodes + 1]
  std::vector<NodeIndex> successors_;            // [arcs]
  std::vector<size_t> predecessor_begin_ = {0};  // [nodes + 1]
  std::vector<NodeIndex> predecessors_;          // [arcs]
};

// Returns the nodes such that each comes after its predecessors, depth first:
// a node comes as soon after its last predecessor as it can. Nodes on a cycle,
// and those that follow one, are missing. Linear time.
std::vector<NodeIndex> TopologicalOrder(const Adjacency& graph);

// Returns the nodes of one cycle in the order of its arcs, empty if there is
// none. Linear time.
std::vector<NodeIndex> FindCycle(const Adjacency& graph);

// Returns for each node a number that it shares with exactly the nodes that it
// reaches and that reach it. [nodes], values 0 … components-1. Linear time.
// Source: Tarjan, "Depth-first search and linear graph algorithms", 1972.
std::vector<uint32_t> StrongComponents(const Adjacency& graph);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_ADJACENCY_H_
