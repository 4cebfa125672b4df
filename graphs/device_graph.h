#ifndef HONE_GRAPHS_DEVICE_GRAPH_H_
#define HONE_GRAPHS_DEVICE_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "graphs/adjacency.h"

namespace hone::graphs {

// The devices that the nodes of a graph are placed on: `accelerators` equal
// accelerators and `cpus` equal CPU cores.
struct DeviceLimits {
  double max_accelerator_bytes = 0;  // memory of each accelerator
  int32_t accelerators = 0;
  int32_t cpus = 0;

  friend bool operator==(const DeviceLimits&, const DeviceLimits&) = default;
};

// An operator or a layer. Times are in the unit of the file, the same for
// nodes and edges (the public graphs have milliseconds).
struct DeviceNode {
  int64_t id = 0;
  std::string name = {};
  double accelerator_latency = 0;
  double cpu_latency = 0;
  double size_bytes = 0;  // memory that it takes on an accelerator
  bool supported_on_accelerator = true;
  bool is_backward = false;  // part of the backward pass of training
  // Nodes of one class share a device.
  std::optional<int64_t> color_class = {};

  friend bool operator==(const DeviceNode&, const DeviceNode&) = default;
};

// A dependence on the output of `source_id`. `cost` is the time of one transfer
// of that output between an accelerator and the memory of the host; all edges
// of one source have the same.
struct DeviceEdge {
  int64_t source_id = 0;
  int64_t target_id = 0;
  double cost = 0;

  friend bool operator==(const DeviceEdge&, const DeviceEdge&) = default;
};

// A weighted acyclic graph to be placed on accelerators and CPU cores. Valid by
// construction and immutable.
// Source: Tarnawski, Phanishayee, Devanur, Mahajan, Paravecino, "Efficient
// Algorithms for Device Placement of DNN Graph Operators", NeurIPS 2020,
// section 3.
class DeviceGraph {
 public:
  // Errors: InvalidArgument, with a message that names the place as in the JSON
  // format ("nodes[3].size"), for numbers that are negative, not finite or
  // above kMaxQuantity, of memory kMaxMemoryBytes (quantity.h); more than
  // 1,048,576 devices of a kind or none at all; what
  // BuildAcyclicGraph refuses; edges of one source with different costs; a node
  // that fits on no device.
  static absl::StatusOr<DeviceGraph> Create(const DeviceLimits& limits,
                                            std::vector<DeviceNode> nodes,
                                            std::vector<DeviceEdge> edges);

  const DeviceLimits& limits() const { return limits_; }
  // Devices 0 … accelerators-1 are accelerators, the others CPU cores.
  int32_t device_count() const { return limits_.accelerators + limits_.cpus; }
  bool is_accelerator(int32_t device) const {
    return device < limits_.accelerators;
  }

  size_t size() const { return nodes_.size(); }
  absl::Span<const DeviceNode> nodes() const { return nodes_; }
  const DeviceNode& node(NodeIndex node) const { return nodes_[node]; }
  absl::Span<const DeviceEdge> edges() const { return edges_; }
  const Adjacency& adjacency() const { return adjacency_; }
  // The cost of a transfer of the node's output, 0 if it has no edge.
  double output_cost(NodeIndex node) const { return output_costs_[node]; }
  // All nodes, each after its predecessors.
  absl::Span<const NodeIndex> topological_order() const { return order_; }

  friend bool operator==(const DeviceGraph& a, const DeviceGraph& b) {
    return a.limits_ == b.limits_ && a.nodes_ == b.nodes_ &&
           a.edges_ == b.edges_;
  }

 private:
  DeviceGraph() = default;

  DeviceLimits limits_;
  std::vector<DeviceNode> nodes_;
  std::vector<DeviceEdge> edges_;
  Adjacency adjacency_;
  std::vector<double> output_costs_;  // [nodes]
  std::vector<NodeIndex> order_;      // [nodes]
};

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_DEVICE_GRAPH_H_
