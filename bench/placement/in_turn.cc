#include "bench/placement/in_turn.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "base/status_macros.h"

namespace hone::bench {

tuning::StepBase BaseOf(const tuning::StepProblem& problem,
                        const std::vector<int32_t>& values) {
  const tuning::StepPlan plan = problem.Plan(values);
  std::vector<graphs::KernelIndex> order(plan.kernels->size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](graphs::KernelIndex a, graphs::KernelIndex b) {
                     return plan.priorities[a] > plan.priorities[b];
                   });
  const tuning::StepSpace& space = problem.space();
  return {
      .fused = plan.fused,
      .devices = space.DevicesOfNodes(*plan.kernels, plan.fused, plan.devices),
      .positions = space.PositionsOfNodes(*plan.kernels, order)};
}

absl::StatusOr<StepRun> SearchInTurn(const StepSearchOptions& options,
                                     const DecisionOrder& order,
                                     const tuning::StepProblem& first) {
  StepRun run;
  const auto count = static_cast<int64_t>(order.decisions.size());
  const tuning::StepProblem* problem = &first;
  std::unique_ptr<tuning::StepProblem> next;
  for (int64_t i = 0; i < count; ++i) {
    if (i > 0) {
      HONE_ASSIGN_OR_RETURN(
          next, tuning::StepProblem::Create(
                    first.space().graph(), first.cluster(),
                    order.decisions[static_cast<size_t>(i)], nullptr, nullptr,
                    BaseOf(*problem, run.best)));
      problem = next.get();
    }
    const int64_t end = options.simulations * (i + 1) / count;
    HONE_RETURN_IF_ERROR(
        SearchStep(options, *problem, end - run.simulations, run));
  }
  return run;
}

}  // namespace hone::bench
