#include "tuning/tasks/schedule_scores.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/fake_cost_model.h"
#include "tests/support/status_matchers.h"
#include "tuning/tasks/kernel_cost_spec.h"

namespace hone::tuning {
namespace {

TEST(ScheduleScores, AreTheMeanOfBothHeads) {
  const learning::CostSpec& spec = KernelCostSpec();
  const testing::FakeCostModel model(
      spec, [](int32_t head, const learning::CostQuery& query, size_t) {
        return head == kKernelTimeHead ? 10 + query.config[0]
                                       : -3 * query.config[0];
      });
  const space::Observation graph;
  std::vector<std::vector<float>> configs;
  for (const float value : {1.0F, 0.0F, 2.0F}) {
    configs.emplace_back(spec.config_names.size()).front() = value;
  }
  std::vector<learning::CostQuery> queries;
  for (const auto& config : configs) queries.push_back({&graph, config});
  HONE_ASSERT_OK_AND_ASSIGN(const std::vector<double> scores,
                            ScheduleScores(model, queries));
  EXPECT_THAT(scores, ::testing::ElementsAre(4, 5, 3));
}

}  // namespace
}  // namespace hone::tuning
