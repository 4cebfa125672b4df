#ifndef HONE_TUNING_TASKS_KERNEL_COST_SPEC_H_
#define HONE_TUNING_TASKS_KERNEL_COST_SPEC_H_

#include <cstdint>

#include "learning/cost/cost_samples.h"

namespace hone::tuning {

// Returns the spec of models of scheduled kernels on CPUs: the heads `time` (of
// a schedule, comparable between kernels) and `schedule` (the order of one
// kernel's schedules), over the features of costmodels/loop_features.h.
const learning::CostSpec& KernelCostSpec();

inline constexpr int32_t kKernelTimeHead = 0;
inline constexpr int32_t kKernelScheduleHead = 1;

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_KERNEL_COST_SPEC_H_
