#ifndef HONE_TUNING_TASKS_TPU_FUSION_COST_H_
#define HONE_TUNING_TASKS_TPU_FUSION_COST_H_

#include <string>

#include "absl/types/span.h"

#include "hlo/fusion/fusion_space.h"
#include "hlo/fusion/kernel_rules.h"
#include "tuning/tasks/tpu_kernel_times.h"

namespace hone::tuning {

// The part of a decision's cost and violation that one node has.
struct NodeCost {
  double ns = 0;      // of its kernel, as often as that runs
  std::string fault;  // "NAME: …"; empty if it has none
};

// Returns the cost of the decision about `node`: nothing of a source, whether
// it is legal if it is fused, and of any other node that of its kernel.
NodeCost CostOfNode(hlo::KernelRules& rules, TpuKernelTimes& times,
                    hlo::FusionIndex node, absl::Span<const uint8_t> fused,
                    absl::Span<const uint8_t> layouts);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_TPU_FUSION_COST_H_
