#include "bench/cost_model/kernel_evaluation.h"

#include <cmath>
#include <cstddef>
#include <utility>

#include "base/prediction_metrics.h"
#include "base/rng.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "tuning/tasks/kernel_cost_spec.h"
#include "tuning/tasks/schedule_scores.h"

namespace hone::bench {

ScheduleErrors ErrorsOf(absl::Span<const KernelGroup* const> kernels,
                        absl::Span<const SchedulePrediction> predictions) {
  std::vector<PredictedChoices> sets;
  std::vector<double> top1, top5, taus, times, predicted;
  for (size_t k = 0; k < kernels.size(); ++k) {
    std::vector<double> ns;
    for (const ScheduleFeatures& schedule : kernels[k]->schedules) {
      ns.push_back(std::exp(schedule.log_time));
    }
    times.insert(times.end(), ns.begin(), ns.end());
    predicted.insert(predicted.end(), predictions[k].ns.begin(),
                     predictions[k].ns.end());
    if (ns.size() < 2) continue;
    sets.push_back({std::move(ns), predictions[k].order});
    top1.push_back(100 * TopKSlowdown(sets.back(), 1));
    top5.push_back(100 * TopKSlowdown(sets.back(), 5));
    const double tau = KendallTau(sets.back().times, sets.back().predicted);
    if (!std::isnan(tau)) taus.push_back(tau);
  }
  return {.ape = SelectionApe(sets),
          .top1 = Mean(top1),
          .top5 = Mean(top5),
          .tau = Mean(taus),
          .mape = MeanAbsolutePercentageError(times, predicted)};
}

absl::StatusOr<std::vector<SchedulePrediction>> PredictSchedules(
    absl::Span<const KernelGroup* const> kernels,
    const learning::CostPredictor& model) {
  std::vector<SchedulePrediction> predictions;
  for (const KernelGroup* const kernel : kernels) {
    std::vector<learning::CostQuery> queries;
    for (const ScheduleFeatures& schedule : kernel->schedules) {
      queries.push_back({schedule.graph.get(), schedule.config});
    }
    SchedulePrediction& prediction = predictions.emplace_back();
    HONE_ASSIGN_OR_RETURN(prediction.order,
                          tuning::ScheduleScores(model, queries));
    HONE_ASSIGN_OR_RETURN(const auto times,
                          model.Predict(tuning::kKernelTimeHead, queries));
    for (const float log_ns : times.values) {
      prediction.ns.push_back(std::exp(static_cast<double>(log_ns)));
    }
  }
  return predictions;
}

std::vector<SchedulePrediction> PredictByRoofline(
    absl::Span<const KernelGroup* const> kernels) {
  std::vector<SchedulePrediction> predictions;
  for (const KernelGroup* const kernel : kernels) {
    std::vector<double> ns;
    for (const ScheduleFeatures& schedule : kernel->schedules) {
      ns.push_back(schedule.roofline_ns);
    }
    predictions.push_back(OrderedByTime(std::move(ns)));
  }
  return predictions;
}

std::vector<SchedulePrediction> MeasureAgain(
    absl::Span<const KernelGroup* const> kernels, uint64_t seed) {
  Rng rng(seed);
  std::vector<SchedulePrediction> predictions;
  for (const KernelGroup* const kernel : kernels) {
    std::vector<double> ns;
    for (const ScheduleFeatures& schedule : kernel->schedules) {
      ns.push_back(
          std::exp(schedule.log_time + schedule.deviation * rng.Normal()));
    }
    predictions.push_back(OrderedByTime(std::move(ns)));
  }
  return predictions;
}

}  // namespace hone::bench
