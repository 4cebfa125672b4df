#ifndef HONE_TUNING_TASKS_SIMULATED_FUSION_H_
#define HONE_TUNING_TASKS_SIMULATED_FUSION_H_

#include "backends/tpu_sim/tpu.h"
#include "tuning/task.h"
#include "tuning/tasks/tpu_fusion_problem.h"

namespace hone::tuning {

// Returns the options of fusion for a simulated TPU: the times of kernels with
// their default configurations, and as the model the cost model that comes with
// Hone. Workers that offer the TPU time kernels (TpuWorker). Where there is
// none, or they fail, this process simulates, which gives the same times. What
// the context refers to outlives the result.
TpuFusionOptions SimulatedFusion(const backends::Tpu& tpu,
                                 const TaskContext& context = {});

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_SIMULATED_FUSION_H_
