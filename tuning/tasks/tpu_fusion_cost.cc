#include "tuning/tasks/tpu_fusion_cost.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace hone::tuning {

NodeCost CostOfNode(hlo::KernelRules& rules, TpuKernelTimes& times,
                    hlo::FusionIndex node, absl::Span<const uint8_t> fused,
                    absl::Span<const uint8_t> layouts) {
  const hlo::FusionSpace& space = rules.space();
  NodeCost cost;
  if (space.node(node).role == hlo::FusionRole::kSource) return cost;
  std::string fault = rules.FaultOf(node, fused);
  if (fault.empty() && fused[static_cast<size_t>(node)] == hlo::kOwnKernel) {
    const hlo::KernelRules::Members& members = rules.MembersOf(node, fused);
    const absl::StatusOr<double> ns =
        times.Of(members.nodes, members.operands, layouts);
    if (ns.ok()) {
      cost.ns = *ns * space.node(node).executions;
    } else {
      fault = std::string(ns.status().message());
    }
  }
  if (!fault.empty()) {
    cost.fault = absl::StrCat(space.NameOf(node), ": ", fault);
  }
  return cost;
}

}  // namespace hone::tuning
