#ifndef HONE_TUNING_TASKS_TPU_FUSION_SURROGATE_H_
#define HONE_TUNING_TASKS_TPU_FUSION_SURROGATE_H_

#include <memory>

#include "absl/status/statusor.h"

#include "costmodels/tpu_analytical.h"
#include "learning/cost/cost_predictor.h"
#include "space/surrogate.h"
#include "tuning/tasks/tpu_fusion_problem.h"
#include "tuning/tasks/tpu_kernel_predictor.h"

namespace hone::tuning {

// Returns the model of `problem`, which outlives it, by a copy of `model`,
// which has TpuCostSpec's heads: a decision takes the sum of its kernels' times
// as TpuKernelPredictor has them.
//
// It learns from profiles: a measured program tells the time of each of its
// kernels, not only their sum. A kernel that was measured is not predicted any
// more, and the model is refined on all of them.
// Errors: those of TpuFusionProblem::Create.
absl::StatusOr<std::unique_ptr<space::Surrogate>> MakeTpuFusionSurrogate(
    const TpuFusionProblem& problem, const learning::CostPredictor& model,
    costmodels::TpuPeaks peaks, DefaultConfigOf config_of);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_TPU_FUSION_SURROGATE_H_
