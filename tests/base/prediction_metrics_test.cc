#include "base/prediction_metrics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"

#include "base/rng.h"

namespace hone {
namespace {

// τ-b by its definition, over all pairs.
double SlowTau(const std::vector<double>& a, const std::vector<double>& b) {
  const auto sign = [](double x) { return (x > 0) - (x < 0); };
  double both = 0, of_a = 0, of_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const int x = sign(a[i] - a[j]), y = sign(b[i] - b[j]);
      both += x * y;
      of_a += x * x;
      of_b += y * y;
    }
  }
  return both / std::sqrt(of_a * of_b);
}

std::vector<double> RandomValues(size_t count, uint64_t values, Rng& rng) {
  std::vector<double> sample(count);
  for (double& x : sample) x = static_cast<double>(1 + rng.Below(values));
  return sample;
}

TEST(KendallTau, EqualsTheDefinitionWithAndWithoutTies) {
  Rng rng(1);
  for (int round = 0; round < 300; ++round) {
    const size_t count = 2 + rng.Below(40);
    const uint64_t values = 2 + rng.Below(round % 2 == 0 ? 5 : 1000);
    const std::vector<double> a = RandomValues(count, values, rng);
    const std::vector<double> b = RandomValues(count, values, rng);
    const double expected = SlowTau(a, b);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(KendallTau(a, b)));
    } else {
      EXPECT_NEAR(KendallTau(a, b), expected, 1e-12);
    }
  }
}

TEST(KendallTau, IsOneForTheSameOrderAndMinusOneForTheReverse) {
  EXPECT_DOUBLE_EQ(KendallTau({1, 2, 3, 7}, {10, 20, 40, 41}), 1);
  EXPECT_DOUBLE_EQ(KendallTau({1, 2, 3, 7}, {4, 3, 2, 1}), -1);
  // One of three pairs is in the wrong order.
  EXPECT_NEAR(KendallTau({1, 2, 3}, {1, 3, 2}), 1. / 3, 1e-12);
}

TEST(KendallTau, IsNotDefinedWhereNothingIsOrdered) {
  EXPECT_TRUE(std::isnan(KendallTau({}, {})));
  EXPECT_TRUE(std::isnan(KendallTau({1}, {1})));
  EXPECT_TRUE(std::isnan(KendallTau({1, 1, 1}, {1, 2, 3})));
}

TEST(SelectionApe, WeighsKernelsByTheirBestTimes) {
  // The first kernel's choice is 10 slower than 100, the second's is the best
  // of 300: 10 of 400.
  EXPECT_DOUBLE_EQ(SelectionApe({{.times = {100, 110}, .predicted = {2, 1}},
                                 {.times = {500, 300}, .predicted = {9, 1}}}),
                   2.5);
  EXPECT_TRUE(std::isnan(SelectionApe({})));
}

TEST(SelectionApe, TakesTheFirstOfEqualPredictions) {
  const PredictedChoices equal = {.times = {3, 2}, .predicted = {1, 1}};
  EXPECT_DOUBLE_EQ(SelectionApe({&equal, 1}), 50);
}

TEST(TopKSlowdown, EqualsASearchThroughTheSortedPredictions) {
  Rng rng(2);
  for (int round = 0; round < 200; ++round) {
    const size_t count = 1 + rng.Below(12);
    const PredictedChoices choices{RandomValues(count, 50, rng),
                                   RandomValues(count, 6, rng)};
    std::vector<size_t> order(count);
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return choices.predicted[a] < choices.predicted[b];
    });
    double best = choices.times[order[0]];
    const double least =
        *std::min_element(choices.times.begin(), choices.times.end());
    for (size_t k = 1; k <= count + 2; ++k) {
      if (k <= count) best = std::min(best, choices.times[order[k - 1]]);
      EXPECT_DOUBLE_EQ(TopKSlowdown(choices, k), best / least - 1);
    }
  }
}

TEST(MeanAbsolutePercentageError, IsRelativeToTheTrueTimes) {
  EXPECT_DOUBLE_EQ(MeanAbsolutePercentageError({100, 10}, {110, 7}), 20);
  EXPECT_TRUE(std::isnan(MeanAbsolutePercentageError({}, {})));
}

}  // namespace
}  // namespace hone
