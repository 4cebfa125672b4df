#include "graphs/device_graph.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

#include "base/status_macros.h"
#include "graphs/identified_edges.h"
#include "graphs/quantity.h"

namespace hone::graphs {
namespace {

// So that the loads of all devices fit in memory.
constexpr int32_t kMaxDevices = 1 << 20;

absl::Status CheckDeviceCount(absl::string_view field, int32_t value) {
  if (value >= 0 && value <= kMaxDevices) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s is %d, expected an integer from 0 to %d", field, value, kMaxDevices));
}

absl::Status CheckLimits(const DeviceLimits& limits) {
  if (!IsQuantity(limits.max_accelerator_bytes)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("maxSizePerFPGA is %g, expected a number from 0 to %g",
                        limits.max_accelerator_bytes, kMaxQuantity));
  }
  HONE_RETURN_IF_ERROR(CheckDeviceCount("maxFPGAs", limits.accelerators));
  HONE_RETURN_IF_ERROR(CheckDeviceCount("maxCPUs", limits.cpus));
  if (limits.accelerators == 0 && limits.cpus == 0) {
    return absl::InvalidArgumentError(
        "maxFPGAs and maxCPUs are 0, expected a device");
  }
  return absl::OkStatus();
}

// Returns an error if `node` fits on none of the devices.
absl::Status CheckFits(const DeviceLimits& limits, size_t index,
                       const DeviceNode& node) {
  if (limits.cpus > 0) return absl::OkStatus();
  if (!node.supported_on_accelerator) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "nodes[%d].supportedOnFpga is 0 and maxCPUs is 0, expected a device "
        "for the node",
        index));
  }
  if (node.size_bytes > limits.max_accelerator_bytes) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "nodes[%d].size is %.17g and maxCPUs is 0, expected at most "
        "maxSizePerFPGA, %.17g",
        index, node.size_bytes, limits.max_accelerator_bytes));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DeviceGraph> DeviceGraph::Create(const DeviceLimits& limits,
                                                std::vector<DeviceNode> nodes,
                                                std::vector<DeviceEdge> edges) {
  HONE_RETURN_IF_ERROR(CheckLimits(limits));
  DeviceGraph graph;
  std::vector<int64_t> ids;
  ids.reserve(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    const DeviceNode& node = nodes[i];
    ids.push_back(node.id);
    HONE_RETURN_IF_ERROR(
        CheckQuantity("nodes", i, "fpgaLatency", node.accelerator_latency));
    HONE_RETURN_IF_ERROR(
        CheckQuantity("nodes", i, "cpuLatency", node.cpu_latency));
    HONE_RETURN_IF_ERROR(
        CheckQuantity("nodes", i, "size", node.size_bytes, kMaxMemoryBytes));
    HONE_RETURN_IF_ERROR(CheckFits(limits, i, node));
  }
  std::vector<IdentifiedEdge> ends;
  ends.reserve(edges.size());
  for (size_t i = 0; i < edges.size(); ++i) {
    HONE_RETURN_IF_ERROR(CheckQuantity("edges", i, "cost", edges[i].cost));
    ends.push_back({edges[i].source_id, edges[i].target_id});
  }
  HONE_ASSIGN_OR_RETURN(
      AcyclicGraph acyclic,
      BuildAcyclicGraph(ids, ends, {.source = "sourceId", .target = "destId"}));

  graph.output_costs_.assign(nodes.size(), 0);
  std::vector<std::optional<size_t>> first(nodes.size());
  for (size_t i = 0; i < edges.size(); ++i) {
    const NodeIndex source = acyclic.arcs[i].source;
    if (!first[source].has_value()) {
      first[source] = i;
      graph.output_costs_[source] = edges[i].cost;
    } else if (edges[i].cost != graph.output_costs_[source]) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "edges[%d].cost is %.17g, expected %.17g as in edges[%d], which has "
          "the same source",
          i, edges[i].cost, graph.output_costs_[source], *first[source]));
    }
  }
  graph.limits_ = limits;
  graph.nodes_ = std::move(nodes);
  graph.edges_ = std::move(edges);
  graph.adjacency_ = std::move(acyclic.adjacency);
  graph.order_ = std::move(acyclic.order);
  return graph;
}

}  // namespace hone::graphs
