#ifndef HONE_GRAPHS_MCM_PARTITION_GRAPH_H_
#define HONE_GRAPHS_MCM_PARTITION_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "graphs/adjacency.h"
#include "graphs/device_graph.h"
#include "graphs/mcm/package.h"
#include "graphs/op_graph.h"

namespace hone::graphs {

// A node of a graph that is put on a chip, with those that belong to it. Times
// are in milliseconds.
struct PartitionNode {
  std::string name = {};
  double time = 0;  // on a chip, without overhead
  // The largest part of its output that a node reads takes so long over one
  // link, without latency.
  double transfer_time = 0;
  double resident_bytes = 0;  // that are on its chip from the start: weights
  double output_bytes = 0;    // that are on its chip while they are needed
  // Where it is in the graph that was given, and then those that belong to it.
  std::vector<NodeIndex> origins = {};
};

// A source that costs next to nothing to make again: each chip with a reader
// has its own copy of the parameters and makes the rest for each sample, within
// the readers. No data flows.
struct PartitionSource {
  std::string name = {};
  double time = 0;            // of each copy
  double resident_bytes = 0;  // of parameters, with each copy
  NodeIndex origin = 0;
  // The nodes that read it, directly or through other sources; sorted.
  std::vector<NodeIndex> readers = {};
};

// An acyclic graph to be partitioned over the chips of a package. Valid by
// construction and immutable.
//
// Which nodes are sources is part of the objective: a mask that each layer of a
// model reads would otherwise keep the model on two chips.
//
// A node that reads nothing but sources, has one reader, and takes no longer
// than its transfer belongs to its reader, if the weights of both fit a chip:
// to put it elsewhere would make no chip less busy.
class PartitionGraph {
 public:
  // Returns the graph of operators, with times by the roofline of a chip (the
  // larger of flops
  // over peak and bytes over the bandwidth of its SRAM) and of the link.
  // Sources are parameters, constants, iota, and of what is read and reads
  // nothing but sources broadcasts, reshapes, and what takes at most a
  // twentieth of a chip's share of all work, with all that it is made of, as
  // often as it is read, and holds parameters of at most a hundredth of its
  // memory. Errors: InvalidArgument if no node is left.
  static absl::StatusOr<PartitionGraph> Create(const OpGraph& graph,
                                               const Package& package);
  // Returns that of a weighted graph, whose own times on an accelerator and
  // costs of
  // transfers are those of a chip and a link, and whose memory of an
  // accelerator is that of a chip; the package counts chips. Sources are nodes
  // without predecessors that take no time. Outputs take no memory beside the
  // sizes of nodes.
  // Errors: InvalidArgument for color classes of several nodes and nodes that
  // accelerators do not support, and if no node is left.
  static absl::StatusOr<PartitionGraph> Create(const DeviceGraph& graph,
                                               const Package& package);

  // Returns the graph with so many milliseconds more for each operator of a
  // node.
  PartitionGraph WithOverheads(double per_operator) const;

  int32_t chips() const { return chips_; }
  // The memory of a chip.
  double memory_bytes() const { return memory_bytes_; }

  size_t size() const { return nodes_.size(); }
  absl::Span<const PartitionNode> nodes() const { return nodes_; }
  const PartitionNode& node(NodeIndex node) const { return nodes_[node]; }
  // Between nodes; sources have no arcs.
  const Adjacency& adjacency() const { return adjacency_; }
  // All nodes, each after its predecessors.
  absl::Span<const NodeIndex> topological_order() const { return order_; }

  absl::Span<const PartitionSource> sources() const { return sources_; }
  // The sources that a node reads, directly or through others, by index.
  absl::Span<const NodeIndex> sources_of(NodeIndex node) const {
    return read_.predecessors(node);
  }

  // The milliseconds of all nodes, and of one copy of each source that is read.
  double total_time() const;
  // The number of nodes of the graph that was given.
  size_t origin_count() const;
  // Returns the chip of each node of the graph that was given: of a source, the
  // first that has a copy, or 0.
  std::vector<int32_t> ChipsOfOrigins(absl::Span<const int32_t> chips) const;

 private:
  PartitionGraph() = default;

  // Drops the sources of `nodes` and joins those that belong to others. All
  // arguments are of the graph that was given, in its order.
  static absl::StatusOr<PartitionGraph> Gather(
      const Adjacency& adjacency, absl::Span<const NodeIndex> order,
      std::vector<PartitionNode> nodes, const std::vector<bool>& is_source,
      double memory_bytes);

  int32_t chips_ = 0;
  double memory_bytes_ = 0;
  std::vector<PartitionNode> nodes_;
  Adjacency adjacency_;
  std::vector<NodeIndex> order_;  // [nodes]
  std::vector<PartitionSource> sources_;
  // Arcs from sources, by index, to nodes, by index.
  Adjacency read_;
};

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_MCM_PARTITION_GRAPH_H_
