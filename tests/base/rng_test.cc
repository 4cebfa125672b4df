#include "base/rng.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hone {
namespace {

// The first outputs of the authors' xoshiro256** for the state 1, 2, 3, 4.
TEST(Rng, IsXoshiro256StarStar) {
  Rng rng(0);
  rng.set_state({1, 2, 3, 4});
  EXPECT_EQ(rng.Next(), 11520u);
  EXPECT_EQ(rng.Next(), 0u);
  EXPECT_EQ(rng.Next(), 1509978240u);
  EXPECT_EQ(rng.Next(), 1215971899390074240u);
}

// splitmix64 from state 0, from its authors' reference code.
TEST(Rng, SeedsBySplitMix) {
  EXPECT_THAT(Rng(0).state(),
              ::testing::ElementsAre(0xe220a8397b1dcdafu, 0x6e789e6aa1b965f4u,
                                     0x06c45d188009454fu, 0xf88bb8a8724c81ecu));
}

TEST(Rng, SameSeedSameSequence) {
  Rng a(42), b(42), c(43);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const uint64_t value = a.Next();
    EXPECT_EQ(value, b.Next());
    differs = differs || value != c.Next();
  }
  EXPECT_TRUE(differs);
}

TEST(Rng, StateResumesTheSequence) {
  Rng a(7);
  a.Next();
  Rng b(0);
  b.set_state(a.state());
  EXPECT_EQ(a.Next(), b.Next());
}

// Pearson's test: with 9 degrees of freedom, chi² exceeds 27.9 once in a
// thousand seeds; this seed is fixed.
TEST(Rng, BelowIsUniform) {
  Rng rng(1);
  constexpr int kBuckets = 10;
  constexpr int kDraws = 100'000;
  std::array<int, kBuckets> counts = {};
  for (int i = 0; i < kDraws; ++i) ++counts[rng.Below(kBuckets)];
  double chi_squared = 0;
  for (int count : counts) {
    const double expected = kDraws / kBuckets;
    chi_squared += (count - expected) * (count - expected) / expected;
  }
  EXPECT_LT(chi_squared, 27.9);
  EXPECT_EQ(rng.Below(1), 0u);
}

// A bound just above 2^63 rejects nearly half of the draws: a biased reduction
// would fill the lower half twice as often.
TEST(Rng, BelowIsUnbiasedForLargeBounds) {
  Rng rng(2);
  constexpr uint64_t kBound = (uint64_t{1} << 63) + (uint64_t{1} << 62);
  int lower = 0;
  for (int i = 0; i < 10'000; ++i) {
    const uint64_t value = rng.Below(kBound);
    ASSERT_LT(value, kBound);
    if (value < kBound / 2) ++lower;
  }
  EXPECT_NEAR(lower, 5000, 250);
}

TEST(Rng, UniformAndNormalHaveTheirMoments) {
  Rng rng(3);
  constexpr int kDraws = 100'000;
  double uniform = 0, normal = 0, normal_squared = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double u = rng.Uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    uniform += u;
    const double z = rng.Normal();
    ASSERT_TRUE(std::isfinite(z));
    normal += z;
    normal_squared += z * z;
  }
  EXPECT_NEAR(uniform / kDraws, 0.5, 0.005);
  EXPECT_NEAR(normal / kDraws, 0, 0.02);
  EXPECT_NEAR(normal_squared / kDraws, 1, 0.02);
}

TEST(Rng, SplitIsIndependentAndAdvances) {
  Rng parent(5);
  Rng first = parent.Split();
  Rng second = parent.Split();
  EXPECT_NE(first.Next(), second.Next());
  EXPECT_NE(parent.state(), Rng(5).state());
}

TEST(Rng, Shuffles) {
  std::vector<int> values = {0, 1, 2, 3, 4, 5, 6, 7};
  Rng rng(9);
  std::vector<int> shuffled = values;
  std::shuffle(shuffled.begin(), shuffled.end(), rng);
  EXPECT_NE(shuffled, values);
  EXPECT_THAT(shuffled, ::testing::UnorderedElementsAreArray(values));
}

}  // namespace
}  // namespace hone
