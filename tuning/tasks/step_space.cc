#include "tuning/tasks/step_space.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "base/status_macros.h"
#include "graphs/step/fusions.h"
#include "tuning/tasks/step_observation.h"

namespace hone::tuning {

using graphs::KernelGraph;
using graphs::KernelIndex;
using graphs::NodeIndex;

absl::StatusOr<std::unique_ptr<StepSpace>> StepSpace::Create(
    graphs::OpGraph graph, const graphs::Cluster& cluster,
    StepDecisions decisions, StepBase base) {
  HONE_ASSIGN_OR_RETURN(graphs::DeviceTimes times,
                        graphs::DeviceTimes::Create(cluster));
  return std::unique_ptr<StepSpace>(new StepSpace(
      std::move(graph), std::move(times), decisions, std::move(base)));
}

StepSpace::StepSpace(graphs::OpGraph graph, graphs::DeviceTimes times,
                     StepDecisions decisions, StepBase base)
    : graph_(std::move(graph)),
      times_(std::move(times)),
      decisions_(decisions),
      rules_(graph_),
      has_base_devices_(!base.devices.empty()),
      default_fusion_(base.fused.empty()
                          ? graphs::FuseByPriority(rules_, times_)
                          : std::move(base.fused)),
      default_kernels_(
          std::make_shared<const KernelGraph>(rules_, default_fusion_, times_)),
      default_devices_(has_base_devices_
                           ? std::move(base.devices)
                           : std::vector<int32_t>(graph_.size())) {
  for (size_t i = 0; i < graph_.size(); ++i) {
    if (decisions.fusion || default_fusion_[i] == 0) {
      unit_nodes_.push_back(static_cast<NodeIndex>(i));
    }
  }
  if (base.positions.empty()) {
    // The order of the program.
    base.positions.resize(graph_.size());
    std::iota(base.positions.begin(), base.positions.end(), 0);
  }
  const auto add = [&](const char* name, int32_t domain, size_t count,
                       bool is_decided, int32_t& first) {
    groups_.push_back({.name = name,
                       .first = variable_count_,
                       .count = is_decided ? static_cast<int32_t>(count) : 0,
                       .domain = domain,
                       .value_feature_names = StepValueFeatureNames(name)});
    if (is_decided) first = variable_count_;
    variable_count_ += groups_.back().count;
  };
  add("order", 1, 1, decisions.devices || decisions.priorities, order_);
  add("device", times_.device_count(), unit_count(), decisions.devices,
      device_);
  add("priority", kLevels, unit_count(), decisions.priorities, priority_);
  add("fused", 2, unit_count(), decisions.fusion, fused_);
  AddOrder(std::move(base.positions));
}

size_t StepSpace::AddOrder(std::vector<uint32_t> positions) {
  const auto found = std::find(orders_.begin(), orders_.end(), positions);
  if (found != orders_.end()) {
    return static_cast<size_t>(found - orders_.begin());
  }
  if (orders_.size() == static_cast<size_t>(space::kMaxValues)) return 0;
  orders_.push_back(std::move(positions));
  groups_[0].domain = static_cast<int32_t>(orders_.size());
  return orders_.size() - 1;
}

std::vector<int32_t> StepSpace::Encode(absl::Span<const int32_t> devices,
                                       absl::Span<const uint8_t> fused,
                                       int32_t order) const {
  std::vector<int32_t> values;
  values.reserve(static_cast<size_t>(variable_count_));
  if (order_ >= 0) values.push_back(order);
  if (decisions_.devices) {
    for (const NodeIndex node : unit_nodes_) values.push_back(devices[node]);
  }
  if (decisions_.priorities) {
    values.insert(values.end(), unit_count(), kStay);
  }
  if (decisions_.fusion) {
    for (const NodeIndex node : unit_nodes_) values.push_back(fused[node]);
  }
  return values;
}

uint64_t StepSpace::Priority(size_t unit, int32_t order, int32_t level) const {
  const auto count = static_cast<int64_t>(graph_.size());
  const int32_t steps = level - kStay;
  const int64_t distance =
      steps == 0 ? 0
                 : std::max(int64_t{1}, count >> (kStay + 1 - std::abs(steps)));
  const auto position = static_cast<int64_t>(
      orders_[static_cast<size_t>(order)][unit_nodes_[unit]]);
  return static_cast<uint64_t>(2 * count - position +
                               (steps > 0 ? distance : -distance));
}

StepPlan StepSpace::Decode(absl::Span<const int32_t> values,
                           graphs::FusionRules& rules) const {
  StepPlan plan;
  if (decisions_.fusion) {
    graphs::Fusion wanted(graph_.size());
    for (size_t unit = 0; unit < unit_count(); ++unit) {
      wanted[unit] =
          static_cast<uint8_t>(values[static_cast<size_t>(fused_) + unit]);
    }
    plan.fused = rules.Legalize(wanted);
    plan.kernels =
        plan.fused == default_fusion_
            ? default_kernels_
            : std::make_shared<const KernelGraph>(rules, plan.fused, times_);
  } else {
    plan.fused = default_fusion_;
    plan.kernels = default_kernels_;
  }
  const int32_t order = order_ >= 0 ? values[0] : 0;
  plan.devices.reserve(plan.kernels->size());
  plan.priorities.reserve(plan.kernels->size());
  for (size_t unit = 0; unit < unit_count(); ++unit) {
    const NodeIndex node = unit_nodes_[unit];
    if (plan.fused[node] != 0) continue;
    plan.devices.push_back(decisions_.devices
                               ? values[static_cast<size_t>(device_) + unit]
                               : default_devices_[node]);
    plan.priorities.push_back(Priority(
        unit, order,
        decisions_.priorities ? values[static_cast<size_t>(priority_) + unit]
                              : kStay));
  }
  return plan;
}

std::vector<int32_t> StepSpace::DevicesOfNodes(
    const KernelGraph& kernels, absl::Span<const uint8_t> fused,
    absl::Span<const int32_t> devices) const {
  std::vector<int32_t> of(graph_.size());
  for (size_t i = graph_.size(); i-- > 0;) {
    const NodeIndex node = graph_.topological_order()[i];
    of[node] = fused[node] == 0 ? devices[kernels.kernel_of(node)]
                                : of[graph_.adjacency().successors(node)[0]];
  }
  return of;
}

std::vector<uint32_t> StepSpace::PositionsOfNodes(
    const KernelGraph& kernels, absl::Span<const KernelIndex> order) const {
  std::vector<uint32_t> of_kernel(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    of_kernel[order[i]] = static_cast<uint32_t>(i);
  }
  std::vector<uint32_t> first(graph_.size());
  for (size_t i = graph_.size(); i-- > 0;) {
    const NodeIndex node = graph_.topological_order()[i];
    const KernelIndex kernel = kernels.kernel_of(node);
    if (kernel != KernelGraph::kFused) {
      first[node] = of_kernel[kernel];
      continue;
    }
    first[node] = ~uint32_t{0};
    for (const NodeIndex user : graph_.adjacency().successors(node)) {
      first[node] = std::min(first[node], first[user]);
    }
  }
  std::vector<NodeIndex> nodes(graph_.topological_order().begin(),
                               graph_.topological_order().end());
  std::stable_sort(nodes.begin(), nodes.end(), [&](NodeIndex a, NodeIndex b) {
    return first[a] < first[b];
  });
  std::vector<uint32_t> positions(graph_.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    positions[nodes[i]] = static_cast<uint32_t>(i);
  }
  return positions;
}

}  // namespace hone::tuning
