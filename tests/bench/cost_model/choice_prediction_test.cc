#include "bench/cost_model/choice_prediction.h"

#include <cmath>

#include "gtest/gtest.h"

#include "tests/support/fake_cost_model.h"
#include "tests/support/status_matchers.h"

namespace hone::bench {
namespace {

TEST(ChoicePrediction, TheHeadsOfAModelRankAndTime) {
  const learning::CostSpec spec = {
      .config_names = {"size"},
      .heads = {{"time"}, {"tile", learning::CostTarget::kOrder}}};
  const testing::FakeCostModel model(
      spec, [](int32_t head, const learning::CostQuery& query,
               size_t /*refinements*/) {
        return head == 1 ? -query.config[0] : query.config[0];
      });
  const space::Observation graph;
  const std::vector<float> sizes = {2, 0.5, 4};
  std::vector<learning::CostQuery> queries;
  for (const float& size : sizes) queries.push_back({&graph, {&size, 1}});
  const auto prediction =
      PredictChoices(model, /*order_head=*/1, /*time_head=*/0, queries);
  HONE_ASSERT_OK(prediction.status());
  EXPECT_EQ(prediction->order, (std::vector<double>{-2, -0.5, -4}));
  EXPECT_EQ(prediction->ns,
            (std::vector<double>{std::exp(2), std::exp(0.5), std::exp(4)}));
  EXPECT_EQ(prediction->deviations.size(), 3);
}

TEST(ChoicePrediction, ModelsOfTimesOrderByThem) {
  const ChoicePrediction prediction = OrderedByTime({3, 1, 2});
  EXPECT_EQ(prediction.order, (std::vector<double>{3, 1, 2}));
  EXPECT_EQ(prediction.ns, prediction.order);
}

}  // namespace
}  // namespace hone::bench
