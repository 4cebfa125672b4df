#include "tuning/tasks/residual_process.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace hone::tuning {
namespace {

TEST(ResidualProcess, SaysNothingWithoutSamples) {
  EXPECT_EQ(ResidualProcess().MeanAt(std::vector<float>{1, 2}), 0);
  EXPECT_EQ(ResidualProcess(std::vector<ResidualProcess::Sample>())
                .MeanAt(std::vector<float>{1}),
            0);
}

TEST(ResidualProcess, OfOneSampleIsShrunkByTheNoise) {
  const ResidualProcess process({{{0.5F}, 0.1}});
  constexpr double kPrior2 = ResidualProcess::kPrior * ResidualProcess::kPrior;
  constexpr double kNoise2 = ResidualProcess::kNoise * ResidualProcess::kNoise;
  EXPECT_NEAR(process.MeanAt(std::vector<float>{0.5F}),
              0.1 * kPrior2 / (kPrior2 + kNoise2), 1e-12);
}

// Solves the normal equations of two samples by hand.
TEST(ResidualProcess, OfTwoSamplesSolvesTheirEquations) {
  const ResidualProcess process({{{0, 0}, 0.1}, {{3, 4}, -0.2}});
  // The distance is 5, and the length with it.
  const double prior = ResidualProcess::kPrior * ResidualProcess::kPrior;
  const double own = prior + ResidualProcess::kNoise * ResidualProcess::kNoise;
  const double between = prior * std::exp(-0.5);
  const double determinant = own * own - between * between;
  const double first = (own * 0.1 + between * 0.2) / determinant;
  const double second = (-own * 0.2 - between * 0.1) / determinant;
  EXPECT_NEAR(process.MeanAt(std::vector<float>{0, 0}),
              prior * first + between * second, 1e-12);
  EXPECT_NEAR(process.MeanAt(std::vector<float>{3, 4}),
              between * first + prior * second, 1e-12);
  EXPECT_NEAR(process.MeanAt(std::vector<float>{300, 400}), 0, 1e-12);
}

TEST(ResidualProcess, TakesTheSameFeaturesTwice) {
  const ResidualProcess process({{{1}, 0.1}, {{1}, 0.3}, {{1}, 0.2}});
  EXPECT_NEAR(process.MeanAt(std::vector<float>{1}), 0.2, 0.01);
}

TEST(ResidualProcess, DoesNotExtrapolate) {
  // A steep slope between neighbors, among samples that are further apart.
  const ResidualProcess process(
      {{{0}, 0.0}, {{1}, 1.0}, {{2}, -0.1}, {{10}, 0.0}, {{20}, 0.0}});
  for (int i = -40; i < 80; ++i) {
    const double mean =
        process.MeanAt(std::vector<float>{0.5F * static_cast<float>(i)});
    EXPECT_GE(mean, -0.1);
    EXPECT_LE(mean, 1.0);
  }
}

}  // namespace
}  // namespace hone::tuning
