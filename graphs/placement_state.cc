#include "graphs/placement_state.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "absl/container/flat_hash_map.h"

#include "base/check.h"
#include "graphs/max_load.h"

namespace hone::graphs {

PlacementState::PlacementState(const DeviceGraph& graph, Contiguity contiguity,
                               absl::Span<const int32_t> assignment)
    : graph_(graph),
      contiguity_(contiguity),
      devices_(static_cast<size_t>(graph.device_count())),
      device_of_(graph.size(), 0),
      node_counts_(devices_),
      row_of_(graph.size(), -1),
      color_before_(graph.size()),
      color_after_(graph.size()),
      crossing_(graph.size()),
      boundary_(devices_),
      place_(graph.size()) {
  HONE_CHECK(devices_ <= 64 && assignment.size() == graph.size());
  sums_.loads.resize(devices_);
  sums_.bytes.resize(devices_);
  std::iota(color_before_.begin(), color_before_.end(), 0u);
  color_after_ = color_before_;
  absl::flat_hash_map<int64_t, NodeIndex> last_of;
  bool has_backward_edge = false;
  // All nodes begin on device 0, with nothing added yet.
  for (size_t i = 0; i < graph.size(); ++i) {
    const auto node = static_cast<NodeIndex>(i);
    total_bytes_ += graph.node(node).size_bytes;
    const absl::Span<const NodeIndex> successors =
        graph.adjacency().successors(node);
    if (successors.size() >= devices_) {
      row_of_[i] = static_cast<int32_t>(rows_.size() / devices_);
      rows_.resize(rows_.size() + devices_);
      rows_[rows_.size() - devices_] = static_cast<int32_t>(successors.size());
    }
    for (const NodeIndex successor : successors) {
      has_backward_edge |=
          graph.node(node).is_backward && graph.node(successor).is_backward;
    }
    if (const auto& color = graph.node(node).color_class; color.has_value()) {
      const auto [it, is_new] = last_of.try_emplace(*color, node);
      if (!is_new) {
        color_before_[i] = it->second;
        color_after_[it->second] = node;
        it->second = node;
      }
    }
    AddNode(node, 1);
  }
  if (contiguity == Contiguity::kPipeline) {
    orders_.assign(has_backward_edge ? 2 : 1, DeviceEdges(devices_));
  }
  for (size_t i = 0; i < graph.size(); ++i) {
    Move(static_cast<NodeIndex>(i), assignment[i]);
  }
  // Summed in one order, without the traces of the moves.
  const absl::StatusOr<DeviceLoads> loads = ComputeLoads(graph, assignment);
  HONE_CHECK(loads.ok());
  sums_.loads = loads->loads;
  std::fill(sums_.bytes.begin(), sums_.bytes.end(), 0);
  for (size_t i = 0; i < graph.size(); ++i) {
    sums_.bytes[static_cast<size_t>(assignment[i])] +=
        graph.nodes()[i].size_bytes;
  }
}

int32_t PlacementState::SuccessorsOn(NodeIndex node, int32_t device) const {
  if (row_of_[node] >= 0) {
    return rows_[static_cast<size_t>(row_of_[node]) * devices_ +
                 static_cast<size_t>(device)];
  }
  int32_t count = 0;
  for (const NodeIndex successor : graph_.adjacency().successors(node)) {
    count += device_of_[successor] == device ? 1 : 0;
  }
  return count;
}

void PlacementState::EnterBoundary(NodeIndex node) {
  std::vector<NodeIndex>& list =
      boundary_[static_cast<size_t>(device_of_[node])];
  place_[node] = static_cast<uint32_t>(list.size());
  list.push_back(node);
}

void PlacementState::LeaveBoundary(NodeIndex node) {
  std::vector<NodeIndex>& list =
      boundary_[static_cast<size_t>(device_of_[node])];
  const NodeIndex last = list.back();
  list[place_[node]] = last;
  place_[last] = place_[node];
  list.pop_back();
}

void PlacementState::ChangeCrossing(NodeIndex node, int32_t change) {
  const bool before = crossing_[node] > 0;
  crossing_[node] += change;
  const bool after = crossing_[node] > 0;
  if (before && !after) LeaveBoundary(node);
  if (!before && after) EnterBoundary(node);
}

void PlacementState::AddEdge(NodeIndex source, NodeIndex target,
                             int32_t change) {
  const int32_t from = device_of_[source];
  const int32_t to = device_of_[target];
  if (from == to) return;
  ChangeCrossing(source, change);
  ChangeCrossing(target, change);
  const bool backward = graph_.node(source).is_backward;
  if (orders_.empty() || graph_.node(target).is_backward != backward) return;
  const auto a = static_cast<size_t>(from);
  const auto b = static_cast<size_t>(to);
  orders_[0].Add(backward ? b : a, backward ? a : b, change);
  if (orders_.size() > 1) orders_[1].Add(a, b, change);
}

void PlacementState::AddNode(NodeIndex index, int32_t sign) {
  const DeviceNode& node = graph_.node(index);
  const auto device = static_cast<size_t>(device_of_[index]);
  const bool on_accelerator = graph_.is_accelerator(device_of_[index]);
  sums_.loads[device] +=
      sign * (on_accelerator ? node.accelerator_latency : node.cpu_latency);
  sums_.bytes[device] += sign * node.size_bytes;
  node_counts_[device] += static_cast<size_t>(sign);
  if (on_accelerator && !node.supported_on_accelerator) unsupported_ += sign;
  for (const NodeIndex other : {color_before_[index], color_after_[index]}) {
    if (device_of_[other] != device_of_[index]) color_breaks_ += sign;
  }
}

void PlacementState::Move(NodeIndex node, int32_t device) {
  const int32_t old = device_of_[node];
  if (old == device) return;
  const Adjacency& edges = graph_.adjacency();
  // Transfers: who pays for an output before and after.
  const auto charge = [&](int32_t payer, double cost) {
    if (graph_.is_accelerator(payer)) {
      sums_.loads[static_cast<size_t>(payer)] += cost;
    }
  };
  {
    const double cost = graph_.output_cost(node);
    const auto all = static_cast<int32_t>(edges.successors(node).size());
    const int32_t on_old = SuccessorsOn(node, old);
    const int32_t on_new = SuccessorsOn(node, device);
    charge(old, (on_old > 0 ? cost : 0) - (all > on_old ? cost : 0));
    charge(device, (all > on_new ? cost : 0) - (on_new > 0 ? cost : 0));
  }
  for (const NodeIndex before : edges.predecessors(node)) {
    const double cost = graph_.output_cost(before);
    const int32_t home = device_of_[before];
    const auto all = static_cast<int32_t>(edges.successors(before).size());
    if (cost != 0) {
      const int32_t at_home = SuccessorsOn(before, home);
      const int32_t at_home_after =
          at_home - (home == old ? 1 : 0) + (home == device ? 1 : 0);
      charge(home,
             (all > at_home_after ? cost : 0) - (all > at_home ? cost : 0));
      if (home != old && SuccessorsOn(before, old) == 1) charge(old, -cost);
      if (home != device && SuccessorsOn(before, device) == 0) {
        charge(device, cost);
      }
    }
    if (row_of_[before] >= 0) {
      int32_t* row = &rows_[static_cast<size_t>(row_of_[before]) * devices_];
      --row[old];
      ++row[device];
    }
  }
  AddNode(node, -1);
  for (const NodeIndex after : edges.successors(node)) AddEdge(node, after, -1);
  for (const NodeIndex before : edges.predecessors(node)) {
    AddEdge(before, node, -1);
  }
  device_of_[node] = device;
  AddNode(node, 1);
  for (const NodeIndex after : edges.successors(node)) AddEdge(node, after, 1);
  for (const NodeIndex before : edges.predecessors(node)) {
    AddEdge(before, node, 1);
  }
}

double PlacementState::max_load() const {
  return *std::max_element(sums_.loads.begin(), sums_.loads.end());
}

double PlacementState::violation() const {
  int64_t nodes_at_fault = unsupported_ + color_breaks_;
  int64_t edges_at_fault = 0;
  if (contiguity_ == Contiguity::kConvex) nodes_at_fault += ReturningNodes();
  if (!orders_.empty()) {
    std::vector<int32_t> order;
    edges_at_fault = orders_[0].EdgesAgainst(order);
    if (orders_.size() > 1 && edges_at_fault > 0) {
      edges_at_fault = std::min(edges_at_fault, orders_[1].EdgesAgainst(order));
    }
  }
  double excess = 0;
  for (int32_t d = 0; d < graph_.limits().accelerators; ++d) {
    const double bytes = sums_.bytes[static_cast<size_t>(d)];
    if (!FitsAccelerator(graph_.limits(), bytes)) {
      excess += (bytes - graph_.limits().max_accelerator_bytes) / total_bytes_;
    }
  }
  return static_cast<double>(nodes_at_fault) /
             static_cast<double>(graph_.size()) +
         static_cast<double>(edges_at_fault) /
             static_cast<double>(std::max<size_t>(1, graph_.edges().size())) +
         excess;
}

int64_t PlacementState::ReturningNodes() const {
  // As in CheckConvex.
  std::vector<uint64_t> above(graph_.size());
  std::vector<uint64_t> left(graph_.size());
  int64_t count = 0;
  const auto bit = [&](NodeIndex node) {
    return uint64_t{1} << device_of_[node];
  };
  for (const NodeIndex node : graph_.topological_order()) {
    for (const NodeIndex before : graph_.adjacency().predecessors(node)) {
      if (graph_.node(before).is_backward != graph_.node(node).is_backward) {
        continue;
      }
      above[node] |= above[before] | bit(before);
      left[node] |= left[before] | (above[before] & ~bit(before));
    }
    count += (left[node] & bit(node)) != 0 ? 1 : 0;
  }
  return count;
}

std::vector<int32_t> PlacementState::DeviceOrder(bool& same_direction) const {
  std::vector<int32_t> order(devices_);
  std::iota(order.begin(), order.end(), 0);
  if (orders_.size() < 2) same_direction = false;
  if (orders_.empty()) return order;
  const int64_t faults = orders_[same_direction ? 1 : 0].EdgesAgainst(order);
  if (orders_.size() > 1 && faults > 0) {
    std::vector<int32_t> other;
    if (orders_[same_direction ? 0 : 1].EdgesAgainst(other) < faults) {
      same_direction = !same_direction;
      return other;
    }
  }
  return order;
}

int64_t PlacementState::DeviceEdges::EdgesAgainst(
    std::vector<int32_t>& order) const {
  std::vector<int64_t> in(devices_);
  std::vector<int64_t> out(devices_);
  for (size_t a = 0; a < devices_; ++a) {
    for (size_t b = 0; b < devices_; ++b) {
      out[a] += counts_[a * devices_ + b];
      in[b] += counts_[a * devices_ + b];
    }
  }
  order.clear();
  std::vector<bool> done(devices_);
  int64_t against = 0;
  for (size_t step = 0; step < devices_; ++step) {
    // The first source, else the device with the most edges out over those in,
    // whose edges in then are against the order.
    size_t next = devices_;
    for (size_t d = 0; d < devices_; ++d) {
      if (done[d]) continue;
      if (in[d] == 0) {
        next = d;
        break;
      }
      if (next == devices_ || out[d] - in[d] > out[next] - in[next]) next = d;
    }
    against += in[next];
    done[next] = true;
    order.push_back(static_cast<int32_t>(next));
    for (size_t d = 0; d < devices_; ++d) {
      if (done[d]) continue;
      in[d] -= counts_[next * devices_ + d];
      out[d] -= counts_[d * devices_ + next];
    }
  }
  return against;
}

}  // namespace hone::graphs
