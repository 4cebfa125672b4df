#ifndef HONE_TUNING_TASKS_SIMULATED_FUSION_H_
#define HONE_TUNING_TASKS_SIMULATED_FUSION_H_

#include "backends/tpu_sim/tpu.h"
#include "tuning/tasks/tpu_fusion_problem.h"

namespace hone::tuning {

// Returns the options of fusion for a simulated TPU: the times of kernels with
// their default configurations, and as the model the cost model that comes with
// Hone.
TpuFusionOptions SimulatedFusion(const backends::Tpu& tpu);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_SIMULATED_FUSION_H_
