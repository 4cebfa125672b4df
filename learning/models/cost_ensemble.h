#ifndef HONE_LEARNING_MODELS_COST_ENSEMBLE_H_
#define HONE_LEARNING_MODELS_COST_ENSEMBLE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "learning/cost/cost_predictor.h"
#include "learning/cost/cost_samples.h"

namespace hone::learning {

// Cost models that were trained apart, from different random weights, and
// predict together: the mean of what they say. Where little was learned from,
// they disagree, and that is part of the deviation: the root of the mean of
// their squared deviations and of the variance between them.
// Source: Lakshminarayanan et al., "Simple and Scalable Predictive Uncertainty
// Estimation using Deep Ensembles", 2017.
class CostEnsemble final : public CostPredictor {
 public:
  // `members`: at least one model, all of one spec. The members of ensembles
  // among them become members of this one.
  explicit CostEnsemble(std::vector<std::unique_ptr<CostPredictor>> members);

  const CostSpec& spec() const override { return members_[0]->spec(); }
  absl::StatusOr<CostPredictions> Predict(
      int32_t head, absl::Span<const CostQuery> queries) const override;
  // Refines each by itself.
  absl::Status Refine(absl::Span<const CostGroup> groups) override;
  std::string Serialize() const override;
  std::unique_ptr<CostPredictor> Clone() const override;

  // Leaves it without members, to be destroyed.
  std::vector<std::unique_ptr<CostPredictor>> TakeMembers() {
    return std::move(members_);
  }

 private:
  std::vector<std::unique_ptr<CostPredictor>> members_;
};

// Returns the cost model or the ensemble that Serialize wrote, for `spec`, or
// for the spec that was saved if it is null.
// Errors: those of CostModel::Parse, of an ensemble with the number of the
// member.
absl::StatusOr<std::unique_ptr<CostPredictor>> ParseCostPredictor(
    absl::string_view bytes, const CostSpec* spec);

}  // namespace hone::learning

#endif  // HONE_LEARNING_MODELS_COST_ENSEMBLE_H_
