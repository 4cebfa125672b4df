#include "bench/cost_model/choice_prediction.h"

#include <cmath>
#include <utility>

#include "base/status_macros.h"

namespace hone::bench {

ChoicePrediction OrderedByTime(std::vector<double> ns) {
  ChoicePrediction prediction;
  prediction.order = ns;
  prediction.ns = std::move(ns);
  return prediction;
}

absl::StatusOr<ChoicePrediction> PredictChoices(
    const learning::CostPredictor& model, int32_t order_head, int32_t time_head,
    absl::Span<const learning::CostQuery> queries) {
  HONE_ASSIGN_OR_RETURN(const auto order, model.Predict(order_head, queries));
  HONE_ASSIGN_OR_RETURN(const auto time, model.Predict(time_head, queries));
  ChoicePrediction prediction;
  prediction.order.assign(order.values.begin(), order.values.end());
  for (const float value : time.values) {
    prediction.ns.push_back(std::exp(static_cast<double>(value)));
  }
  prediction.deviations.assign(time.deviations.begin(), time.deviations.end());
  return prediction;
}

}  // namespace hone::bench
