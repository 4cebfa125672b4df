#ifndef HONE_TUNING_TASKS_TPU_FUSION_LOCAL_H_
#define HONE_TUNING_TASKS_TPU_FUSION_LOCAL_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "hlo/fusion/fusion_space.h"
#include "space/local_state.h"
#include "tuning/tasks/tpu_kernel_times.h"

namespace hone::tuning {

// Returns an assignment of a TpuFusionProblem for a local search. A change
// costs the time of the kernels that it touches. Counts tries in `evaluations`.
// `space` and `times` outlive it.
//
// A move fuses a node, or gives it a kernel of its own, or moves the border
// between two kernels across a node, or swaps a layout.
std::unique_ptr<space::LocalState> MakeTpuFusionLocal(
    const hlo::FusionSpace& space, TpuKernelTimes& times,
    std::shared_ptr<std::atomic<int64_t>> evaluations, hlo::FusionBits fused,
    hlo::LayoutBits layouts);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_TPU_FUSION_LOCAL_H_
