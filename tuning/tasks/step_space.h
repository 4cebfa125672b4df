#ifndef HONE_TUNING_TASKS_STEP_SPACE_H_
#define HONE_TUNING_TASKS_STEP_SPACE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "graphs/cluster.h"
#include "graphs/op_graph.h"
#include "graphs/step/device_times.h"
#include "graphs/step/fusion_rules.h"
#include "graphs/step/kernel_graph.h"
#include "space/assignment_problem.h"

namespace hone::tuning {

// What is decided about a step; the rest is by default.
struct StepDecisions {
  bool devices = false;
  bool priorities = false;
  bool fusion = false;
};

// Decisions that were made before, in place of the defaults; each empty: the
// default.
struct StepBase {
  graphs::Fusion fused;             // [nodes], legal
  std::vector<int32_t> devices;     // [nodes]
  std::vector<uint32_t> positions;  // [nodes], in the order of starts
};

// How a step runs: kernels, with the device and the priority of each.
struct StepPlan {
  std::shared_ptr<const graphs::KernelGraph> kernels;
  graphs::Fusion fused;              // [nodes]
  std::vector<int32_t> devices;      // [kernels]
  std::vector<uint64_t> priorities;  // [kernels], higher first
};

// The assignments that stand for decisions about a step, and what they mean.
//
// Units are the nodes of the graph, or, if fusion is not decided, the kernels
// of the default fusion. These are the groups of variables; what is not decided
// has none, so that one policy serves all tasks:
// - "order", one variable, with devices or priorities: which of the orders that
//   known methods find the kernels are started in;
// - "device" of each unit;
// - "priority" of each unit: how far it is moved in that order. kLevels values;
//   the middle one, kStay, leaves it where it is, each further one moves it
//   twice as far towards the begin (higher values) or the end, the outermost by
//   half of the units;
// - "fused" of each unit: 1 to fuse it into its users, where that is legal.
// Threads: const functions may run side by side.
class StepSpace {
 public:
  static constexpr int32_t kLevels = 17;
  static constexpr int32_t kStay = kLevels / 2;

  // Errors: those of DeviceTimes::Create.
  static absl::StatusOr<std::unique_ptr<StepSpace>> Create(
      graphs::OpGraph graph, const graphs::Cluster& cluster,
      StepDecisions decisions, StepBase base = {});

  const graphs::OpGraph& graph() const { return graph_; }
  const graphs::DeviceTimes& times() const { return times_; }
  const StepDecisions& decisions() const { return decisions_; }
  // The fusion without a decision, and its kernels.
  const graphs::Fusion& default_fusion() const { return default_fusion_; }
  const std::shared_ptr<const graphs::KernelGraph>& default_kernels() const {
    return default_kernels_;
  }
  // Rules to copy: an object that is used by one thread.
  const graphs::FusionRules& rules() const { return rules_; }

  absl::Span<const space::VariableGroup> groups() const { return groups_; }
  size_t unit_count() const { return unit_nodes_.size(); }
  graphs::NodeIndex node_of(size_t unit) const { return unit_nodes_[unit]; }
  // The unit that a variable of a group other than "order" belongs to.
  size_t UnitOf(int32_t variable) const {
    return static_cast<size_t>(variable - (order_ + 1)) % unit_count();
  }
  // The first variable of a group; -1 without one.
  int32_t order_variable() const { return order_; }
  int32_t first_device() const { return device_; }
  int32_t first_priority() const { return priority_; }
  int32_t first_fused() const { return fused_; }
  // Whether a variable is one of these groups.
  bool is_fused(int32_t variable) const {
    return fused_ >= 0 && variable >= fused_;
  }
  bool is_priority(int32_t variable) const {
    return priority_ >= 0 && variable >= priority_ && !is_fused(variable);
  }
  int32_t variable_count() const { return variable_count_; }

  // The devices were decided before.
  bool has_base_devices() const { return has_base_devices_; }

  // Adds an order that the variable "order" chooses from, the position of each
  // node, before any candidate is made. Returns its number, that of an equal
  // one if there is one, or 0, that of the order without a decision, if
  // there are space::kMaxValues.
  size_t AddOrder(std::vector<uint32_t> positions);
  // The devices of nodes where they are not decided. [nodes]
  const std::vector<int32_t>& default_devices() const {
    return default_devices_;
  }
  void set_default_devices(std::vector<int32_t> devices) {
    default_devices_ = std::move(devices);
  }

  // Returns the assignment that stands for these: `devices` and `fused` of all
  // nodes, as far as they are decided.
  std::vector<int32_t> Encode(absl::Span<const int32_t> devices,
                              absl::Span<const uint8_t> fused,
                              int32_t order) const;
  // Returns the plan of an assignment with values within their domains. `rules`
  // is a copy of rules().
  StepPlan Decode(absl::Span<const int32_t> values,
                  graphs::FusionRules& rules) const;
  // Returns the priority of a unit, given its level and the order.
  uint64_t Priority(size_t unit, int32_t order, int32_t level) const;

  // Returns the devices of all nodes from those of kernels: a fused node has
  // that of the first kernel that computes it.
  std::vector<int32_t> DevicesOfNodes(const graphs::KernelGraph& kernels,
                                      absl::Span<const uint8_t> fused,
                                      absl::Span<const int32_t> devices) const;
  // Returns the positions of all nodes from the order of kernels: a fused node
  // comes right before the first kernel that computes it.
  std::vector<uint32_t> PositionsOfNodes(
      const graphs::KernelGraph& kernels,
      absl::Span<const graphs::KernelIndex> order) const;

 private:
  StepSpace(graphs::OpGraph graph, graphs::DeviceTimes times,
            StepDecisions decisions, StepBase base);

  const graphs::OpGraph graph_;
  const graphs::DeviceTimes times_;
  const StepDecisions decisions_;
  graphs::FusionRules rules_;
  const bool has_base_devices_;
  graphs::Fusion default_fusion_;
  std::shared_ptr<const graphs::KernelGraph> default_kernels_;
  std::vector<graphs::NodeIndex> unit_nodes_;
  std::vector<std::vector<uint32_t>> orders_;
  std::vector<int32_t> default_devices_;
  std::vector<space::VariableGroup> groups_;
  int32_t order_ = -1;
  int32_t device_ = -1;
  int32_t priority_ = -1;
  int32_t fused_ = -1;
  int32_t variable_count_ = 0;
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_STEP_SPACE_H_
