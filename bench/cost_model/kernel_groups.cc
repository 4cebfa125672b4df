#include "bench/cost_model/kernel_groups.h"

#include <utility>

#include "tuning/tasks/kernel_cost_spec.h"

namespace hone::bench {

std::vector<learning::CostGroup> KernelGroups(const KernelGroup& kernel) {
  learning::CostGroup time = {.program = kernel.kernel.family,
                              .head = tuning::kKernelTimeHead};
  for (const ScheduleFeatures& schedule : kernel.schedules) {
    time.samples.push_back(
        {schedule.graph, schedule.config, schedule.log_time});
  }
  if (time.samples.empty()) return {};
  std::vector<learning::CostGroup> groups = {time};
  if (time.samples.size() > 1) {
    groups.push_back(std::move(time));
    groups.back().head = tuning::kKernelScheduleHead;
  }
  return groups;
}

}  // namespace hone::bench
