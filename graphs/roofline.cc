#include "graphs/roofline.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_format.h"

#include "graphs/hlo_import.h"

namespace hone::graphs {
namespace {

constexpr double kMillisecondsPerSecond = 1e3;

double LatencyMs(const OpNode& node, const DeviceKind& kind) {
  if (node.flops == 0 && node.bytes == 0) return 0;
  return kMillisecondsPerSecond *
         (kind.launch_seconds + std::max(node.flops / kind.flops_per_second,
                                         node.bytes / kind.bytes_per_second));
}

double TransferMs(double bytes, const Cluster& cluster) {
  return kMillisecondsPerSecond *
         (cluster.link.latency_seconds + bytes / cluster.link.bytes_per_second);
}

bool HasOwnLinks(const Cluster& cluster) {
  for (const DeviceKind* const kind : KindsOfDevices(cluster)) {
    if (kind->link.has_value()) return true;
  }
  return false;
}

// An argument is its own result.
double SizeBytes(const OpNode& node) {
  return node.opcode == kParameterOpcode
             ? node.parameter_bytes
             : node.parameter_bytes + node.output_bytes;
}

}  // namespace

absl::StatusOr<DeviceGraph> MakeDeviceGraph(const OpGraph& ops,
                                            const Cluster& cluster) {
  if (cluster.accelerators.size() > 1 || cluster.cpus.size() > 1 ||
      cluster.network.has_value() || HasOwnLinks(cluster)) {
    return absl::InvalidArgumentError(
        "the cluster has several kinds of accelerators, CPUs or links, "
        "expected "
        "one of each for max-load; step-time takes any");
  }
  const DeviceKind none;
  const DeviceKind& accelerators =
      cluster.accelerators.empty() ? none : cluster.accelerators[0];
  const DeviceKind& cpus = cluster.cpus.empty() ? none : cluster.cpus[0];
  const DeviceLimits limits = {
      .max_accelerator_bytes =
          accelerators.count > 0 ? accelerators.memory_bytes : 0,
      .accelerators = accelerators.count,
      .cpus = cpus.count};
  const DeviceKind& accelerator = accelerators.count > 0 ? accelerators : cpus;
  const DeviceKind& cpu = cpus.count > 0 ? cpus : accelerators;
  std::vector<DeviceNode> nodes;
  nodes.reserve(ops.size());
  for (const OpNode& node : ops.nodes()) {
    const double size = SizeBytes(node);
    if (limits.cpus == 0 && size > limits.max_accelerator_bytes) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "node '%s' takes %.17g bytes of an accelerator and the cluster has "
          "no CPU, expected at most %.17g",
          node.name, size, limits.max_accelerator_bytes));
    }
    nodes.push_back({.id = node.id,
                     .name = node.name,
                     .accelerator_latency = LatencyMs(node, accelerator),
                     .cpu_latency = LatencyMs(node, cpu),
                     .size_bytes = size});
  }
  absl::flat_hash_map<int64_t, double> most_bytes;  // by source
  for (const OpEdge& edge : ops.edges()) {
    double& most = most_bytes[edge.from_id];
    most = std::max(most, edge.bytes);
  }
  std::vector<DeviceEdge> edges;
  edges.reserve(ops.edges().size());
  for (const OpEdge& edge : ops.edges()) {
    edges.push_back({.source_id = edge.from_id,
                     .target_id = edge.to_id,
                     .cost = TransferMs(most_bytes[edge.from_id], cluster)});
  }
  return DeviceGraph::Create(limits, std::move(nodes), std::move(edges));
}

}  // namespace hone::graphs
