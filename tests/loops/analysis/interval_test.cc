#include "loops/analysis/interval.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace hone::loops {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();

// Variable 0 is 0 … 7, variable 1 is -2 … 3, variable 2 is 5, and variable 3
// has no values.
Interval ExampleRange(VarId var) {
  constexpr Interval kRanges[] = {{0, 7}, {-2, 3}, {5, 5}, {0, -1}};
  return kRanges[var];
}

TEST(Interval, IsEmptyWhereItsEndsAreCrossed) {
  EXPECT_FALSE((Interval{4, 4}).IsEmpty());
  EXPECT_TRUE((Interval{4, 3}).IsEmpty());
}

TEST(Interval, NegativeFactorsSwapItsEnds) {
  EXPECT_EQ(3 * Interval({-2, 5}), Interval({-6, 15}));
  EXPECT_EQ(-3 * Interval({-2, 5}), Interval({-15, 6}));
  EXPECT_EQ(0 * Interval({-2, 5}), Interval({0, 0}));
  EXPECT_TRUE((-3 * Interval{0, -1}).IsEmpty());
}

TEST(RangeOf, AConstantIsItsOnlyValue) {
  EXPECT_EQ(RangeOf(-9, ExampleRange), Interval({-9, -9}));
  EXPECT_EQ(RangeOf(kLeast, ExampleRange), Interval({kLeast, kLeast}));
}

TEST(RangeOf, FollowsTheSignsOfCoefficients) {
  const Affine i = Affine::Var(0);
  const Affine j = Affine::Var(1);
  EXPECT_EQ(RangeOf(i * 2 + 1, ExampleRange), Interval({1, 15}));
  EXPECT_EQ(RangeOf(i * -2 + 1, ExampleRange), Interval({-13, 1}));
  EXPECT_EQ(RangeOf(j * -3, ExampleRange), Interval({-9, 6}));
  EXPECT_EQ(RangeOf(Affine::Var(2, -4), ExampleRange), Interval({-20, -20}));
}

// Against the values themselves.
TEST(RangeOf, EndsAreTaken) {
  for (int64_t a = -3; a <= 3; ++a) {
    for (int64_t b = -3; b <= 3; ++b) {
      const Affine affine = Affine::Var(0, a) + Affine::Var(1, b) - Affine(4);
      Interval seen = {kGreatest, kLeast};
      for (int64_t i = 0; i <= 7; ++i) {
        for (int64_t j = -2; j <= 3; ++j) {
          const int64_t value =
              affine.Evaluate([&](VarId var) { return var == 0 ? i : j; });
          seen = {std::min(seen.lo, value), std::max(seen.hi, value)};
        }
      }
      EXPECT_EQ(RangeOf(affine, ExampleRange), seen) << a << " " << b;
    }
  }
}

TEST(RangeOf, IsEmptyWhereAVariableHasNoValues) {
  const Affine none = Affine::Var(3);
  EXPECT_TRUE(RangeOf(none, ExampleRange).IsEmpty());
  EXPECT_TRUE(RangeOf(none * -1 + 100, ExampleRange).IsEmpty());
  EXPECT_TRUE(RangeOf(Affine::Var(0, 9) + none, ExampleRange).IsEmpty());
  EXPECT_TRUE(RangeOf(Affine::Var(0, -9) - none, ExampleRange).IsEmpty());
}

// Covers the numbers of verified programs, and larger ones.
TEST(RangeOf, TakesLargeNumbers) {
  const auto range_of = [](VarId) { return Interval{0, int64_t{1} << 31}; };
  const Affine affine = Affine::Var(0, int64_t{1} << 31) - Affine::Var(1) * 3;
  EXPECT_EQ(RangeOf(affine, range_of),
            Interval({-(int64_t{3} << 31), int64_t{1} << 62}));
}

}  // namespace
}  // namespace hone::loops
