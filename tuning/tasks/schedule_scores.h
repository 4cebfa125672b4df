#ifndef HONE_TUNING_TASKS_SCHEDULE_SCORES_H_
#define HONE_TUNING_TASKS_SCHEDULE_SCORES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "learning/cost/cost_predictor.h"

namespace hone::tuning {

// Returns scores of schedules of one kernel by a model of KernelCostSpec, less
// for a faster one; differences are about those of the logarithms of times.
// They are the mean of the head for order, which tells schedules apart that
// take nearly equally long, and that for times, whose error grows with how much
// a schedule is slower. [queries]. Errors: those of CostPredictor::Predict.
absl::StatusOr<std::vector<double>> ScheduleScores(
    const learning::CostPredictor& model,
    absl::Span<const learning::CostQuery> queries);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_SCHEDULE_SCORES_H_
