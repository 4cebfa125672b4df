#ifndef HONE_BENCH_COST_MODEL_CHOICE_PREDICTION_H_
#define HONE_BENCH_COST_MODEL_CHOICE_PREDICTION_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "learning/cost/cost_predictor.h"

namespace hone::bench {

// The predictions of a model for the choices of a kernel: its tiles or
// schedules. Both [choices].
struct ChoicePrediction {
  // In the order of times: of learned models the score that ranks.
  std::vector<double> order;
  // Nanoseconds.
  std::vector<double> ns;
  // The standard deviations that the logarithms of `ns` are expected to have
  // from the truth; empty for models that do not say.
  std::vector<double> deviations = {};
};

// Returns the predictions of a model that only predicts times.
ChoicePrediction OrderedByTime(std::vector<double> ns);

// Predicts by a learned model: `order_head` ranks, `time_head` gives logarithms
// of nanoseconds. Errors: those of CostPredictor::Predict.
absl::StatusOr<ChoicePrediction> PredictChoices(
    const learning::CostPredictor& model, int32_t order_head, int32_t time_head,
    absl::Span<const learning::CostQuery> queries);

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_CHOICE_PREDICTION_H_
