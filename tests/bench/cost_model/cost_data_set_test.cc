#include "bench/cost_model/cost_data_set.h"

#include <set>
#include <string>

#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace hone::bench {
namespace {

TEST(CostDataSets, HaveOptionsThatTheCommandKnows) {
  for (const CostDataSet& set : CostDataSets()) {
    SCOPED_TRACE(std::string(set.id));
    EXPECT_TRUE(set.Uses("data") || set.Uses("kernels"));
    EXPECT_FALSE(set.Uses("nothing"));
  }
}

TEST(SyntheticData, SplitsProgramsAndFollowsTheSeed) {
  HONE_ASSERT_OK_AND_ASSIGN(const CostDataSet* const data,
                            CostDataSets().Find("synthetic"));
  HONE_ASSERT_OK_AND_ASSIGN(const learning::CostTrainingSet set,
                            data->make({.kernels = 50, .seed = 3}));
  HONE_EXPECT_OK(learning::CheckCostSpec(set.spec));
  HONE_EXPECT_OK(learning::CheckGroups(set.spec, set.training));
  HONE_EXPECT_OK(learning::CheckGroups(set.spec, set.validation));
  // Two groups for each kernel.
  EXPECT_EQ(set.training.size(), 100);
  EXPECT_EQ(set.validation.size(), 20);
  std::set<std::string> programs;
  for (const auto& group : set.training) programs.insert(group.program);
  for (const auto& group : set.validation) {
    EXPECT_FALSE(programs.contains(group.program));
  }
  HONE_ASSERT_OK_AND_ASSIGN(const learning::CostTrainingSet other,
                            data->make({.kernels = 50, .seed = 4}));
  EXPECT_NE(set.training[1].samples[0].log_time,
            other.training[1].samples[0].log_time);
}

TEST(SyntheticData, OfFewKernelsIsSmall) {
  HONE_ASSERT_OK_AND_ASSIGN(const CostDataSet* const data,
                            CostDataSets().Find("synthetic"));
  HONE_ASSERT_OK_AND_ASSIGN(const learning::CostTrainingSet set,
                            data->make({.kernels = 1}));
  EXPECT_EQ(set.training.size(), 2);
  EXPECT_EQ(set.validation.size(), 2);
}

}  // namespace
}  // namespace hone::bench
