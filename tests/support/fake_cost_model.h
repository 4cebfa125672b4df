#ifndef HONE_TESTS_SUPPORT_FAKE_COST_MODEL_H_
#define HONE_TESTS_SUPPORT_FAKE_COST_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "learning/cost/cost_predictor.h"

namespace hone::testing {

// A cost model that predicts what a test says, and notes what it is asked and
// what it is to learn. Threads: not thread-safe.
class FakeCostModel final : public learning::CostPredictor {
 public:
  // Predicts for a head and a query, after so many refinements.
  using PredictOne = std::function<double(
      int32_t head, const learning::CostQuery& query, size_t refinements)>;

  // `spec` outlives this.
  FakeCostModel(const learning::CostSpec& spec, PredictOne predict)
      : spec_(spec), predict_(std::move(predict)) {}

  // The groups of each refinement, of this model and of its copies.
  const std::vector<std::vector<learning::CostGroup>>& refinements() const {
    return *refinements_;
  }
  // The number of queries of each prediction, likewise.
  const std::vector<size_t>& asked() const { return *asked_; }

  const learning::CostSpec& spec() const override { return spec_; }
  absl::StatusOr<learning::CostPredictions> Predict(
      int32_t head,
      absl::Span<const learning::CostQuery> queries) const override {
    asked_->push_back(queries.size());
    learning::CostPredictions predictions;
    for (const learning::CostQuery& query : queries) {
      predictions.values.push_back(
          static_cast<float>(predict_(head, query, refinements_->size())));
      predictions.deviations.push_back(0);
    }
    return predictions;
  }
  absl::Status Refine(absl::Span<const learning::CostGroup> groups) override {
    refinements_->emplace_back(groups.begin(), groups.end());
    return absl::OkStatus();
  }
  std::string Serialize() const override { return ""; }
  std::unique_ptr<learning::CostPredictor> Clone() const override {
    return std::make_unique<FakeCostModel>(*this);
  }

 private:
  const learning::CostSpec& spec_;
  const PredictOne predict_;
  const std::shared_ptr<std::vector<std::vector<learning::CostGroup>>>
      refinements_ =
          std::make_shared<std::vector<std::vector<learning::CostGroup>>>();
  const std::shared_ptr<std::vector<size_t>> asked_ =
      std::make_shared<std::vector<size_t>>();
};

}  // namespace hone::testing

#endif  // HONE_TESTS_SUPPORT_FAKE_COST_MODEL_H_
