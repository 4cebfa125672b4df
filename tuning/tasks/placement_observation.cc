#include "tuning/tasks/placement_observation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace hone::tuning {
namespace {

using graphs::DeviceGraph;
using graphs::DeviceNode;
using graphs::NodeIndex;

enum Kind : int32_t { kForward, kBackward, kCpuOnly };

// Sums that features are relative to; positive.
struct Totals {
  explicit Totals(const DeviceGraph& graph) {
    for (const DeviceNode& node : graph.nodes()) {
      time += std::max(node.accelerator_latency, 0.0);
      cpu_time += node.cpu_latency;
      bytes += node.size_bytes;
    }
    if (time <= 0) time = cpu_time;
    if (time <= 0) time = 1;
    if (bytes <= 0) bytes = 1;
  }
  double time = 0;
  double cpu_time = 0;
  double bytes = 0;
};

// Returns 0 for a share of 1e-6 or less, 1 for a share of 1, linear in the
// logarithm, at most 2.
float LogShare(double value, double total) {
  constexpr double kDecades = 6;
  const double share = value / total;
  if (!(share > 1e-6)) return 0;
  return static_cast<float>(std::min(2.0, 1 + std::log10(share) / kDecades));
}

float LogCount(size_t count) {
  return static_cast<float>(
      std::min(1.0, std::log2(1 + static_cast<double>(count)) / 16));
}

float Share(double value, double total) {
  return total > 0 ? static_cast<float>(std::min(1.0, value / total)) : 1;
}

// The share of the forward pass's time that comes before each node, and half of
// its own, along the topological order. For nodes of the backward pass, what is
// left of that pass: they are near the forward nodes of equal shares, as it
// mostly runs in the opposite order.
std::vector<float> WorkDone(const DeviceGraph& graph) {
  double totals[2] = {0, 0};
  for (const DeviceNode& node : graph.nodes()) {
    totals[node.is_backward] += node.accelerator_latency;
  }
  double done[2] = {0, 0};
  std::vector<float> shares(graph.size());
  for (const NodeIndex index : graph.topological_order()) {
    const DeviceNode& node = graph.node(index);
    const double total = std::max(totals[node.is_backward], 1e-30);
    double& sum = done[node.is_backward];
    const double share =
        std::min(1.0, (sum + node.accelerator_latency / 2) / total);
    sum += node.accelerator_latency;
    shares[index] = static_cast<float>(node.is_backward ? 1 - share : share);
  }
  return shares;
}

}  // namespace

space::ObservationSpec PlacementObservationSpec() {
  space::ObservationSpec spec;
  spec.node_kind_names = {"forward", "backward", "cpu_only"};
  spec.node_feature_names = {"accelerator_time", "cpu_time",   "memory_share",
                             "output_cost",      "position",   "work_done",
                             "in_degree",        "out_degree", "is_backward",
                             "is_colored"};
  spec.edge_feature_names = {"cost"};
  spec.global_feature_names = {"nodes", "edges", "accelerators", "cpus",
                               "memory"};
  spec.node_kinds = static_cast<int32_t>(spec.node_kind_names.size());
  spec.node_features = static_cast<int32_t>(spec.node_feature_names.size());
  spec.edge_features = static_cast<int32_t>(spec.edge_feature_names.size());
  spec.global_features = static_cast<int32_t>(spec.global_feature_names.size());
  return spec;
}

space::Observation ObservePlacement(const DeviceGraph& graph) {
  const Totals totals(graph);
  const double capacity = graph.limits().max_accelerator_bytes;
  std::vector<float> position(graph.size());
  for (size_t i = 0; i < graph.size(); ++i) {
    position[graph.topological_order()[i]] =
        static_cast<float>(i) / static_cast<float>(graph.size());
  }
  const std::vector<float> work_done = WorkDone(graph);
  space::Observation seen;
  for (size_t i = 0; i < graph.size(); ++i) {
    const auto index = static_cast<NodeIndex>(i);
    const DeviceNode& node = graph.node(index);
    seen.node_kinds.push_back(!node.supported_on_accelerator ? kCpuOnly
                              : node.is_backward             ? kBackward
                                                             : kForward);
    const auto successors = graph.adjacency().successors(index);
    seen.node_features.insert(
        seen.node_features.end(),
        {LogShare(node.accelerator_latency, totals.time),
         LogShare(node.cpu_latency, totals.time),
         Share(node.size_bytes, capacity),
         LogShare(graph.output_cost(index), totals.time), position[i],
         work_done[i], LogCount(graph.adjacency().predecessors(index).size()),
         LogCount(successors.size()), node.is_backward ? 1.0F : 0.0F,
         node.color_class.has_value() ? 1.0F : 0.0F});
    for (const NodeIndex target : successors) {
      seen.edge_sources.push_back(static_cast<int32_t>(i));
      seen.edge_targets.push_back(static_cast<int32_t>(target));
      seen.edge_features.push_back(
          LogShare(graph.output_cost(index), totals.time));
    }
  }
  seen.global_features = {
      LogCount(graph.size()), LogCount(graph.edges().size()),
      static_cast<float>(graph.limits().accelerators) / 64,
      static_cast<float>(graph.limits().cpus) / 64,
      Share(totals.bytes, capacity * graph.limits().accelerators)};
  return seen;
}

std::vector<std::string> DeviceFeatureNames() {
  return {"is_accelerator", "memory", "index"};
}

std::vector<float> DeviceFeatures(const DeviceGraph& graph) {
  const Totals totals(graph);
  const graphs::DeviceLimits& limits = graph.limits();
  std::vector<float> features;
  for (int32_t d = 0; d < graph.device_count(); ++d) {
    const bool accelerator = graph.is_accelerator(d);
    const int32_t index = accelerator ? d : d - limits.accelerators;
    const int32_t count = accelerator ? limits.accelerators : limits.cpus;
    features.insert(
        features.end(),
        {accelerator ? 1.0F : 0.0F,
         accelerator ? Share(limits.max_accelerator_bytes, totals.bytes) : 1.0F,
         static_cast<float>(index) / static_cast<float>(count)});
  }
  return features;
}

}  // namespace hone::tuning
