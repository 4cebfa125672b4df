#include "graphs/max_load.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "base/status_macros.h"

namespace hone::graphs {
namespace {

absl::Status CheckDevices(const DeviceGraph& graph,
                          absl::Span<const int32_t> assignment) {
  if (assignment.size() != graph.size()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("the assignment has %d devices, expected one for each "
                        "of %d nodes",
                        assignment.size(), graph.size()));
  }
  for (size_t i = 0; i < assignment.size(); ++i) {
    if (assignment[i] < 0 || assignment[i] >= graph.device_count()) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "node %d is on device %d, expected a device from 0 to %d",
          graph.nodes()[i].id, assignment[i], graph.device_count() - 1));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckAccelerators(const DeviceGraph& graph,
                               absl::Span<const int32_t> assignment) {
  const DeviceLimits& limits = graph.limits();
  std::vector<double> bytes(static_cast<size_t>(limits.accelerators));
  for (size_t i = 0; i < assignment.size(); ++i) {
    if (!graph.is_accelerator(assignment[i])) continue;
    const DeviceNode& node = graph.nodes()[i];
    if (!node.supported_on_accelerator) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "node %d is on accelerator %d, which does not support it", node.id,
          assignment[i]));
    }
    bytes[static_cast<size_t>(assignment[i])] += node.size_bytes;
  }
  for (size_t device = 0; device < bytes.size(); ++device) {
    if (!FitsAccelerator(limits, bytes[device])) {
      return absl::InvalidArgumentError(
          absl::StrFormat("accelerator %d holds %.17g bytes, expected at most "
                          "%.17g",
                          device, bytes[device], limits.max_accelerator_bytes));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckColors(const DeviceGraph& graph,
                         absl::Span<const int32_t> assignment) {
  absl::flat_hash_map<int64_t, size_t> first_of;
  for (size_t i = 0; i < assignment.size(); ++i) {
    const DeviceNode& node = graph.nodes()[i];
    if (!node.color_class.has_value()) continue;
    const size_t first =
        first_of.try_emplace(*node.color_class, i).first->second;
    if (assignment[first] != assignment[i]) {
      return absl::InvalidArgumentError(
          absl::StrFormat("nodes %d and %d of color class %d are on devices %d "
                          "and %d, expected "
                          "one device",
                          graph.nodes()[first].id, node.id, *node.color_class,
                          assignment[first], assignment[i]));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DeviceLoads> ComputeLoads(const DeviceGraph& graph,
                                         absl::Span<const int32_t> assignment) {
  HONE_RETURN_IF_ERROR(CheckDevices(graph, assignment));
  DeviceLoads result;
  const auto devices = static_cast<size_t>(graph.device_count());
  const auto accelerators = static_cast<size_t>(graph.limits().accelerators);
  result.loads.assign(devices, 0);
  // The last node whose output a device was charged for, plus 1.
  std::vector<size_t> charged(devices, 0);
  for (size_t i = 0; i < graph.size(); ++i) {
    const auto index = static_cast<NodeIndex>(i);
    const DeviceNode& node = graph.node(index);
    const double cost = graph.output_cost(index);
    const auto device = static_cast<size_t>(assignment[i]);
    result.loads[device] +=
        device < accelerators ? node.accelerator_latency : node.cpu_latency;
    for (const NodeIndex successor : graph.adjacency().successors(index)) {
      const auto other = static_cast<size_t>(assignment[successor]);
      if (other == device) continue;
      for (const size_t end : {device, other}) {
        if (end >= accelerators || charged[end] == i + 1) continue;
        charged[end] = i + 1;
        result.loads[end] += cost;
      }
    }
  }
  result.max_load = *std::max_element(result.loads.begin(), result.loads.end());
  return result;
}

absl::Status CheckAssignment(const DeviceGraph& graph,
                             absl::Span<const int32_t> assignment,
                             Contiguity contiguity) {
  HONE_RETURN_IF_ERROR(CheckDevices(graph, assignment));
  HONE_RETURN_IF_ERROR(CheckAccelerators(graph, assignment));
  HONE_RETURN_IF_ERROR(CheckColors(graph, assignment));
  switch (contiguity) {
    case Contiguity::kNone:
      return absl::OkStatus();
    case Contiguity::kConvex:
      return CheckConvex(graph, assignment);
    case Contiguity::kPipeline:
      return CheckPipeline(graph, assignment);
  }
  return absl::InternalError("unknown contiguity");
}

}  // namespace hone::graphs
