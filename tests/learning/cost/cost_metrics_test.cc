#include "learning/cost/cost_metrics.h"

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace hone::learning {
namespace {

// Predicts the feature of a configuration.
class Echo final : public CostPredictor {
 public:
  const CostSpec& spec() const override { return spec_; }
  absl::StatusOr<CostPredictions> Predict(
      int32_t, absl::Span<const CostQuery> queries) const override {
    CostPredictions predictions;
    for (const CostQuery& query : queries) {
      predictions.values.push_back(query.config[0]);
      predictions.deviations.push_back(0);
    }
    return predictions;
  }
  absl::Status Refine(absl::Span<const CostGroup>) override {
    return absl::OkStatus();
  }
  std::string Serialize() const override { return ""; }
  std::unique_ptr<CostPredictor> Clone() const override {
    return std::make_unique<Echo>();
  }

 private:
  const CostSpec spec_ = {.config_names = {"prediction"},
                          .heads = {{"time"}, {"tile", CostTarget::kOrder}}};
};

// (time, prediction of the logarithm)
CostGroup Group(const std::string& program, int32_t head,
                const std::vector<std::pair<double, double>>& samples) {
  static const auto graph = std::make_shared<const space::Observation>();
  CostGroup group = {.program = program, .head = head};
  for (const auto& [time, prediction] : samples) {
    group.samples.push_back(
        {graph, {static_cast<float>(prediction)}, std::log(time)});
  }
  return group;
}

TEST(EvaluateCostModel, EvaluatesEachHeadOfEachProgram) {
  const std::vector<CostGroup> groups = {
      Group("a", 0, {{100, std::log(110.)}}),
      Group("a", 0, {{10, std::log(7.)}}),
      // 10 above 100, the best of 300, and a kernel without a choice.
      Group("a", 1, {{100, 2}, {110, 1}}), Group("b", 0, {{4, std::log(4.)}}),
      Group("a", 1, {{500, 9}, {300, 1}}), Group("a", 1, {{5, 0}}),
      Group("b", 1, {{1, 3}, {2, 2}, {3, 1}})};
  HONE_ASSERT_OK_AND_ASSIGN(const std::vector<ProgramMetrics> metrics,
                            EvaluateCostModel(Echo(), groups));
  ASSERT_EQ(metrics.size(), 4);
  EXPECT_EQ(metrics[0].program, "a");
  EXPECT_EQ(metrics[0].head, 0);
  EXPECT_EQ(metrics[0].samples, 2);
  EXPECT_NEAR(metrics[0].mape, 20, 1e-4);
  EXPECT_TRUE(std::isnan(metrics[0].ape));
  EXPECT_EQ(metrics[1].program, "b");
  EXPECT_NEAR(metrics[1].mape, 0, 1e-4);
  EXPECT_EQ(metrics[2].program, "a");
  EXPECT_EQ(metrics[2].kernels, 3);
  EXPECT_NEAR(metrics[2].ape, 2.5, 1e-9);
  EXPECT_NEAR(metrics[2].kendall, 0, 1e-9);
  EXPECT_NEAR(metrics[2].top1, 5, 1e-9);
  EXPECT_NEAR(metrics[2].top5, 0, 1e-9);
  EXPECT_TRUE(std::isnan(metrics[2].mape));
  EXPECT_NEAR(metrics[3].ape, 200, 1e-9);
  EXPECT_NEAR(metrics[3].kendall, -1, 1e-9);

  const HeadMetrics tile = MeanOverPrograms(metrics, 1);
  EXPECT_NEAR(tile.mean.ape, 101.25, 1e-9);
  EXPECT_NEAR(tile.median_ape, 101.25, 1e-9);
  EXPECT_EQ(tile.mean.kernels, 4);
  EXPECT_NEAR(SelectionError(Echo().spec(), metrics), 10 + 101.25, 1e-4);
}

}  // namespace
}  // namespace hone::learning
