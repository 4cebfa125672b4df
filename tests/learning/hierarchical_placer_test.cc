#include "learning/hierarchical_placer.h"

#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/toy_problems.h"

namespace hone::learning {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Ge;
using ::testing::Lt;

constexpr int32_t kBatch = 10;
constexpr size_t kOperators = 16;

// A chain of operators to be placed on three devices.
class HierarchicalPlacerTest : public ::testing::Test {
 protected:
  static testing::TableProblem Chain() {
    testing::TableProblem::Spec spec;
    spec.domains.assign(kOperators, 3);
    spec.default_values.assign(kOperators, 0);
    for (int32_t i = 1; i < static_cast<int32_t>(kOperators); ++i) {
      spec.edges.emplace_back(i - 1, i);
    }
    return testing::TableProblem(std::move(spec));
  }

  HierarchicalPlacer Make(uint64_t seed, int32_t groups = 8) const {
    return HierarchicalPlacer(problem_, problem_.groups()[0],
                              {.groups = groups}, seed);
  }

  // The share of operators on the device that they belong on: the first half
  // on device 2, the others on device 1.
  static float Reward(const GroupedPlacement& placement) {
    float right = 0;
    for (size_t i = 0; i < kOperators; ++i) {
      if (placement.values[i] == (i < kOperators / 2 ? 2 : 1)) ++right;
    }
    return right / kOperators;
  }

  // Makes updates; returns the mean rewards.
  static std::vector<float> Train(HierarchicalPlacer& placer, int updates,
                                  uint64_t seed) {
    Rng rng(seed);
    std::vector<float> means;
    for (int i = 0; i < updates; ++i) {
      const auto placements = placer.Draw(kBatch, 1, rng);
      std::vector<float> rewards;
      for (const GroupedPlacement& placement : placements) {
        rewards.push_back(Reward(placement));
      }
      placer.Update(placements, 1, rewards);
      means.push_back(std::accumulate(rewards.begin(), rewards.end(), 0.F) /
                      kBatch);
    }
    return means;
  }

  const testing::TableProblem problem_ = Chain();
};

TEST_F(HierarchicalPlacerTest, OperatorsHaveTheDeviceOfTheirGroup) {
  const HierarchicalPlacer placer = Make(1);
  Rng rng(1);
  const auto placements = placer.Draw(kBatch, 1, rng);
  ASSERT_EQ(placements.size(), kBatch);
  for (const GroupedPlacement& placement : placements) {
    ASSERT_EQ(placement.groups.size(), kOperators);
    ASSERT_EQ(placement.devices.size(), 8);
    EXPECT_THAT(placement.groups, Each(AllOf(Ge(0), Lt(8))));
    EXPECT_THAT(placement.values, Each(AllOf(Ge(0), Lt(3))));
    std::vector<bool> used(8);
    for (size_t i = 0; i < kOperators; ++i) {
      const auto group = static_cast<size_t>(placement.groups[i]);
      used[group] = true;
      EXPECT_EQ(placement.values[i], placement.devices[group]);
    }
    for (size_t g = 0; g < 8; ++g) {
      EXPECT_EQ(placement.devices[g] >= 0, used[g]);
    }
  }
}

TEST_F(HierarchicalPlacerTest, HasNoMoreGroupsThanOperators) {
  const HierarchicalPlacer placer = Make(1, /*groups=*/64);
  Rng rng(1);
  EXPECT_EQ(placer.Draw(1, 1, rng)[0].devices.size(), kOperators);
}

TEST_F(HierarchicalPlacerTest, LearnsWhatIsRewarded) {
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    HierarchicalPlacer placer = Make(seed);
    const std::vector<float> means = Train(placer, 150, seed);
    const float first = std::accumulate(means.begin(), means.begin() + 10, 0.F);
    const float last = std::accumulate(means.end() - 10, means.end(), 0.F);
    EXPECT_LT(first / 10, 0.5) << "seed " << seed;
    EXPECT_GT(last / 10, 0.75) << "seed " << seed;
  }
}

TEST_F(HierarchicalPlacerTest, TheSameSeedLearnsTheSame) {
  HierarchicalPlacer a = Make(4);
  HierarchicalPlacer b = Make(4);
  HierarchicalPlacer c = Make(5);
  const std::vector<float> means = Train(a, 5, 7);
  EXPECT_EQ(Train(b, 5, 7), means);
  EXPECT_NE(Train(c, 5, 7), means);
}

TEST_F(HierarchicalPlacerTest, TellsTheBaselineAndTheEntropies) {
  HierarchicalPlacer placer = Make(6);
  Rng rng(6);
  auto placements = placer.Draw(2, 1, rng);
  HierarchicalPlacerStatistics statistics =
      placer.Update(placements, 1, {-3, -1});
  EXPECT_NEAR(statistics.baseline, -2, 1e-6);
  EXPECT_GT(statistics.grouper_entropy, 0);
  EXPECT_LE(statistics.grouper_entropy, std::log(8) + 1e-6);
  EXPECT_GT(statistics.placer_entropy, 0);
  EXPECT_LE(statistics.placer_entropy, std::log(3) + 1e-6);
  for (const double expected : {-2.0, -1.8}) {
    placements = placer.Draw(2, 1, rng);
    EXPECT_NEAR(placer.Update(placements, 1, {0, 0}).baseline, expected, 1e-6);
  }
}

TEST_F(HierarchicalPlacerTest, HigherTemperaturesDrawMoreEvenly) {
  HierarchicalPlacer placer = Make(8);
  Train(placer, 150, 8);
  const auto reward = [&](double temperature) {
    Rng rng(9);
    float sum = 0;
    for (const GroupedPlacement& placement :
         placer.Draw(50, temperature, rng)) {
      sum += Reward(placement);
    }
    return sum / 50;
  };
  EXPECT_GT(reward(1), reward(8) + 0.1F);
}

// An observation with cycles and without any edge.
TEST(HierarchicalPlacer, TakesGraphsOfAnyForm) {
  for (const bool cyclic : {false, true}) {
    testing::TableProblem::Spec spec;
    spec.domains.assign(3, 2);
    spec.default_values.assign(3, 0);
    if (cyclic) spec.edges = {{0, 1}, {1, 2}, {2, 0}};
    const testing::TableProblem problem(std::move(spec));
    HierarchicalPlacer placer(problem, problem.groups()[0], {}, 1);
    Rng rng(1);
    const auto placements = placer.Draw(3, 1, rng);
    placer.Update(placements, 1, {1, 2, 3});
    EXPECT_EQ(placer.Draw(1, 1, rng)[0].values.size(), 3);
  }
}

}  // namespace
}  // namespace hone::learning
