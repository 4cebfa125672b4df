#ifndef HONE_GRAPHS_PLACEMENT_STATE_H_
#define HONE_GRAPHS_PLACEMENT_STATE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

#include "graphs/contiguity.h"
#include "graphs/device_graph.h"

namespace hone::graphs {

// An assignment with its loads and the constraints that it breaks, kept up to
// date as nodes move. Moving a node takes time linear in its edges, and in
// those of its predecessors that have fewer successors than there are devices.
// Memory is linear in nodes and edges. Keeps a reference to the graph, which
// has at most 64 devices.
// Threads: not thread-safe.
class PlacementState {
 public:
  // One device of the graph per node.
  PlacementState(const DeviceGraph& graph, Contiguity contiguity,
                 absl::Span<const int32_t> assignment);

  const DeviceGraph& graph() const { return graph_; }
  absl::Span<const int32_t> assignment() const { return device_of_; }
  void Move(NodeIndex node, int32_t device);

  // [devices], as ComputeLoads gives them, up to rounding.
  absl::Span<const double> loads() const { return sums_.loads; }
  double max_load() const;
  // 0 exactly if CheckAssignment accepts the assignment, else the sum of
  // - the share of the nodes that are on accelerators that do not support them,
  //   apart from the one before in their color class, or where a path comes
  //   back to a device (kConvex);
  // - the share of the edges against an order of the devices, for an order that
  //   has few of them (kPipeline);
  // - the share of all bytes that exceed the memory of accelerators.
  // Time by the number of devices; linear in the graph for kConvex.
  double violation() const;

  // What rounding gets into. To move nodes there and back without a trace, set
  // it to what it was.
  struct Sums {
    std::vector<double> loads;  // [devices]
    std::vector<double> bytes;  // [devices]
  };
  const Sums& sums() const { return sums_; }
  void set_sums(const Sums& sums) { sums_ = sums; }

  // The nodes on a device with a neighbor on another one.
  absl::Span<const NodeIndex> boundary(int32_t device) const {
    return boundary_[static_cast<size_t>(device)];
  }
  // The number of nodes on a device.
  size_t node_count(int32_t device) const {
    return node_counts_[static_cast<size_t>(device)];
  }
  // The devices in the order of the pipeline, or one with few edges against it;
  // in the order of their numbers where nothing else tells them apart.
  // `same_direction` tells whether the backward pass follows it, too; on entry,
  // which direction is preferred where either does.
  std::vector<int32_t> DeviceOrder(bool& same_direction) const;

 private:
  // The numbers of edges from one device to another, with edges of the backward
  // pass reversed or as they are.
  class DeviceEdges {
   public:
    explicit DeviceEdges(size_t devices)
        : devices_(devices), counts_(devices * devices) {}
    void Add(size_t from, size_t to, int32_t change) {
      counts_[from * devices_ + to] += change;
    }
    // The edges against `order`, which becomes one that has few of them: none,
    // if there is such an order.
    // Source: Eades, Lin and Smyth, "A fast and effective heuristic for the
    // feedback arc set problem", 1993.
    int64_t EdgesAgainst(std::vector<int32_t>& order) const;

   private:
    size_t devices_;
    std::vector<int32_t> counts_;
  };

  int32_t SuccessorsOn(NodeIndex node, int32_t device) const;
  void ChangeCrossing(NodeIndex node, int32_t change);
  void EnterBoundary(NodeIndex node);
  void LeaveBoundary(NodeIndex node);
  void AddEdge(NodeIndex source, NodeIndex target, int32_t change);
  void AddNode(NodeIndex node, int32_t sign);
  int64_t ReturningNodes() const;

  const DeviceGraph& graph_;
  const Contiguity contiguity_;
  const size_t devices_;
  double total_bytes_ = 0;
  std::vector<int32_t> device_of_;
  Sums sums_;
  std::vector<size_t> node_counts_;  // [devices]

  // Rows of successors by device, for nodes with as many successors as devices.
  std::vector<int32_t> row_of_;  // [nodes], -1 for none
  std::vector<int32_t> rows_;    // [rows, devices]

  // The neighbors in a node's color class, the node itself for none.
  std::vector<NodeIndex> color_before_;  // [nodes]
  std::vector<NodeIndex> color_after_;   // [nodes]
  int64_t color_breaks_ = 0;
  int64_t unsupported_ = 0;

  // Backward edges reversed, then as they are if there are any. None if the
  // contiguity is not kPipeline.
  std::vector<DeviceEdges> orders_;

  std::vector<int32_t> crossing_;  // [nodes]: edges to other devices
  std::vector<std::vector<NodeIndex>> boundary_;  // [devices]
  std::vector<uint32_t> place_;                   // [nodes], in boundary_
};

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_PLACEMENT_STATE_H_
