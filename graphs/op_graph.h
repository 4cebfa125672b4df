#ifndef HONE_GRAPHS_OP_GRAPH_H_
#define HONE_GRAPHS_OP_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "graphs/adjacency.h"

namespace hone::graphs {

// An operator of a module. Amounts are for one execution.
struct OpNode {
  int64_t id = 0;
  std::string name = {};
  std::string opcode = {};
  double flops = 0;
  double bytes = 0;            // read and written
  double output_bytes = 0;     // size of the result
  double parameter_bytes = 0;  // weights that it holds
  // The result, or a part of it, is one of the program.
  bool is_output = false;
  // The part of the model that it belongs to ("layer1/attention"); nothing that
  // a step takes depends on it.
  std::string scope = {};

  friend bool operator==(const OpNode&, const OpNode&) = default;
};

// A dependence: `bytes` of the output of `from_id` go to `to_id`.
struct OpEdge {
  int64_t from_id = 0;
  int64_t to_id = 0;
  double bytes = 0;

  friend bool operator==(const OpEdge&, const OpEdge&) = default;
};

// An acyclic graph of operators with their work, independent of any device.
// Valid by construction and immutable.
class OpGraph {
 public:
  // Errors: InvalidArgument, with a message that names the place as in the JSON
  // format ("nodes[3].flops"), for numbers that are negative, not finite or
  // above kMaxQuantity, of memory kMaxMemoryBytes (quantity.h), and what
  // BuildAcyclicGraph refuses.
  static absl::StatusOr<OpGraph> Create(std::vector<OpNode> nodes,
                                        std::vector<OpEdge> edges);

  size_t size() const { return nodes_.size(); }
  absl::Span<const OpNode> nodes() const { return nodes_; }
  const OpNode& node(NodeIndex node) const { return nodes_[node]; }
  absl::Span<const OpEdge> edges() const { return edges_; }
  const Adjacency& adjacency() const { return adjacency_; }
  // All nodes, each after its predecessors.
  absl::Span<const NodeIndex> topological_order() const { return order_; }

  friend bool operator==(const OpGraph& a, const OpGraph& b) {
    return a.nodes_ == b.nodes_ && a.edges_ == b.edges_;
  }

 private:
  OpGraph() = default;

  std::vector<OpNode> nodes_;
  std::vector<OpEdge> edges_;
  Adjacency adjacency_;
  std::vector<NodeIndex> order_;  // [nodes]
};

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_OP_GRAPH_H_
