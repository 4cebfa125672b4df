#include "tuning/tasks/schedule_scores.h"

#include <cstddef>

#include "base/status_macros.h"
#include "tuning/tasks/kernel_cost_spec.h"

namespace hone::tuning {

absl::StatusOr<std::vector<double>> ScheduleScores(
    const learning::CostPredictor& model,
    absl::Span<const learning::CostQuery> queries) {
  HONE_ASSIGN_OR_RETURN(const auto order,
                        model.Predict(kKernelScheduleHead, queries));
  HONE_ASSIGN_OR_RETURN(const auto times,
                        model.Predict(kKernelTimeHead, queries));
  std::vector<double> scores;
  for (size_t i = 0; i < queries.size(); ++i) {
    scores.push_back((static_cast<double>(order.values[i]) +
                      static_cast<double>(times.values[i])) /
                     2);
  }
  return scores;
}

}  // namespace hone::tuning
