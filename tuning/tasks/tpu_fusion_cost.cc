#include "tuning/tasks/tpu_fusion_cost.h"

#include "absl/strings/str_cat.h"

namespace hone::tuning {

NodeQuestion AskAboutNode(hlo::KernelRules& rules, hlo::FusionIndex node,
                          absl::Span<const uint8_t> fused,
                          absl::Span<const uint8_t> layouts,
                          TpuKernelTimes::Batch& batch) {
  NodeQuestion question;
  question.node = node;
  if (rules.space().node(node).role == hlo::FusionRole::kSource) {
    return question;
  }
  question.fault = rules.FaultOf(node, fused);
  if (question.fault.empty() &&
      fused[static_cast<size_t>(node)] == hlo::kOwnKernel) {
    const hlo::KernelRules::Members& members = rules.MembersOf(node, fused);
    question.kernel = batch.Add(members.nodes, members.operands, layouts);
  }
  return question;
}

NodeCost CostOf(const NodeQuestion& question, const hlo::FusionSpace& space,
                const TpuKernelTimes::Batch& batch) {
  NodeCost cost;
  absl::string_view fault = question.fault;
  if (question.kernel.has_value()) {
    const absl::StatusOr<double>& ns = batch[*question.kernel];
    if (ns.ok()) {
      cost.ns = *ns * space.node(question.node).executions;
    } else {
      fault = ns.status().message();
    }
  }
  if (!fault.empty()) {
    cost.fault = absl::StrCat(space.NameOf(question.node), ": ", fault);
  }
  return cost;
}

}  // namespace hone::tuning
