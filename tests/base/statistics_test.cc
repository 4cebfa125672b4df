#include "base/statistics.h"

#include <cmath>

#include "gtest/gtest.h"

namespace hone {
namespace {

TEST(Quantile, InterpolatesAsType7) {
  // R: quantile(c(1, 2, 4, 8), c(0, .25, .5, .9, 1))
  const double sample[] = {8, 1, 4, 2};
  EXPECT_DOUBLE_EQ(Quantile(sample, 0), 1);
  EXPECT_DOUBLE_EQ(Quantile(sample, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(Quantile(sample, 0.5), 3);
  EXPECT_DOUBLE_EQ(Quantile(sample, 0.9), 6.8);
  EXPECT_DOUBLE_EQ(Quantile(sample, 1), 8);
}

TEST(Quantile, OfOneElementIsIt) {
  const double sample[] = {3};
  EXPECT_EQ(Quantile(sample, 0.3), 3);
}

TEST(Median, OfOddAndEvenSamples) {
  EXPECT_EQ(Median({5, 1, 3}), 3);
  EXPECT_EQ(Median({5, 1, 3, 4}), 3.5);
}

TEST(Mean, IsTheSumByTheSize) {
  EXPECT_DOUBLE_EQ(Mean({1, 2, 6}), 3);
  EXPECT_TRUE(std::isnan(Mean({})));
}

TEST(GeometricMean, IsTheRootOfTheProduct) {
  EXPECT_DOUBLE_EQ(GeometricMean({2, 8}), 4);
  // Neither overflows nor underflows on the way.
  EXPECT_NEAR(GeometricMean({1e300, 1e300, 1e-300, 1e-300}), 1, 1e-12);
}

TEST(Statistics, OfNothingAreNotANumber) {
  EXPECT_TRUE(std::isnan(Quantile({}, 0.5)));
  EXPECT_TRUE(std::isnan(Median({})));
  EXPECT_TRUE(std::isnan(GeometricMean({})));
}

}  // namespace
}  // namespace hone
