#include "space/reward.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace hone::space {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Measurement Ok(double cost) { return {.cost = cost}; }
Measurement Violated(double violation) {
  return {.outcome = Outcome::kInvalid, .cost = 1, .violation = violation};
}

TEST(StepReward, AddsUpOverTheSteps) {
  EXPECT_DOUBLE_EQ(StepReward(8, 4, 8), std::log(2.0));
  EXPECT_DOUBLE_EQ(StepReward(8, 4, 8) + StepReward(4, 6, 8),
                   StepReward(8, 6, 8));
  EXPECT_EQ(StepReward(5, 5, 8), 0);
}

TEST(StepReward, MeansTheSameInEveryUnit) {
  EXPECT_DOUBLE_EQ(StepReward(8, 4, 8), StepReward(8e9, 4e9, 8e9));
}

TEST(StepReward, IsFiniteWhateverTheCosts) {
  for (const double before : {0.0, 1.0, kInfinity, std::nan("")}) {
    for (const double after : {0.0, 1.0, kInfinity, std::nan("")}) {
      EXPECT_TRUE(std::isfinite(StepReward(before, after, 2)));
    }
  }
  EXPECT_GT(StepReward(1, 0, 1), StepReward(1, 0.5, 1));
  EXPECT_LT(StepReward(1, kInfinity, 1), StepReward(1, 100, 1));
}

TEST(RewardOf, IsTheLogarithmOfTheRatioToTheReference) {
  EXPECT_DOUBLE_EQ(RewardOf(Ok(5), 10), std::log(2.0));
  EXPECT_DOUBLE_EQ(RewardOf(Ok(20), 10), -std::log(2.0));
}

TEST(RewardOf, RanksFailuresBelowEveryCostAndByViolation) {
  const Measurement crashed{.outcome = Outcome::kCrashed};
  EXPECT_LT(RewardOf(Violated(0.1), 1), RewardOf(Ok(1e9), 1));
  EXPECT_LT(RewardOf(Violated(2), 1), RewardOf(Violated(0.1), 1));
  EXPECT_LT(RewardOf(crashed, 1), RewardOf(Violated(1e6), 1));
  EXPECT_TRUE(std::isfinite(RewardOf(crashed, 1)));
}

}  // namespace
}  // namespace hone::space
