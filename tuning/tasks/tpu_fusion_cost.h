#ifndef HONE_TUNING_TASKS_TPU_FUSION_COST_H_
#define HONE_TUNING_TASKS_TPU_FUSION_COST_H_

#include <cstddef>
#include <cstdint>
#include <optional>
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

// The question of what a node costs, once the time of its kernel is known.
struct NodeQuestion {
  hlo::FusionIndex node = 0;
  // Its number in the batch, if it has a kernel that the rules allow.
  std::optional<size_t> kernel;
  std::string fault;

  // True if it costs nothing.
  bool is_free() const { return !kernel.has_value() && fault.empty(); }
};

// Asks about `node` in a decision, and adds its kernel to `batch`. A source
// costs nothing; a node that is fused costs nothing, but may be illegal; any
// other node costs the time of its kernel.
NodeQuestion AskAboutNode(hlo::KernelRules& rules, hlo::FusionIndex node,
                          absl::Span<const uint8_t> fused,
                          absl::Span<const uint8_t> layouts,
                          TpuKernelTimes::Batch& batch);

// Returns the cost that was asked about, after batch.Ask().
NodeCost CostOf(const NodeQuestion& question, const hlo::FusionSpace& space,
                const TpuKernelTimes::Batch& batch);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_TPU_FUSION_COST_H_
