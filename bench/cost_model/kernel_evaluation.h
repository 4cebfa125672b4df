#ifndef HONE_BENCH_COST_MODEL_KERNEL_EVALUATION_H_
#define HONE_BENCH_COST_MODEL_KERNEL_EVALUATION_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "bench/cost_model/choice_prediction.h"
#include "bench/cost_model/kernel_data.h"
#include "learning/cost/cost_predictor.h"

namespace hone::bench {

// The predictions of a model for the schedules of a kernel.
using SchedulePrediction = ChoicePrediction;

// The errors of a model on measured kernels.
struct ScheduleErrors {
  // The error of selecting the schedule of each kernel (SelectionApe), per
  // cent.
  double ape = 0;
  // The means over kernels of how much slower the best of the 1 and 5 schedules
  // predicted fastest is than the best of all, per cent.
  double top1 = 0;
  double top5 = 0;
  // The mean over kernels of Kendall's τ of their schedules.
  double tau = 0;
  // The error of the times of all schedules, per cent.
  double mape = 0;
};

// `predictions` are of the kernels, in order. Of no kernels, all are NaN.
ScheduleErrors ErrorsOf(absl::Span<const KernelGroup* const> kernels,
                        absl::Span<const SchedulePrediction> predictions);

// Predicts by a learned model of tuning::KernelCostSpec. The kernels need
// graphs.
absl::StatusOr<std::vector<SchedulePrediction>> PredictSchedules(
    absl::Span<const KernelGroup* const> kernels,
    const learning::CostPredictor& model);

// Predicts by costmodels/loop_roofline.h.
std::vector<SchedulePrediction> PredictByRoofline(
    absl::Span<const KernelGroup* const> kernels);

// Draws times by the deviations of the measured ones: what a model would say
// that is wrong by as much as measurements are. None can be expected to be
// closer.
std::vector<SchedulePrediction> MeasureAgain(
    absl::Span<const KernelGroup* const> kernels, uint64_t seed);

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_KERNEL_EVALUATION_H_
