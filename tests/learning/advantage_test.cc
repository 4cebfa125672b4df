#include "learning/advantage.h"

#include <cmath>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hone::learning {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::FloatNear;
using ::testing::IsEmpty;

TEST(GeneralizedAdvantages, AreThoseComputedByHand) {
  // Surprises, from the last: 4 - 3 = 1; 2 + 0.5·3 - 1 = 2.5;
  // 1 + 0.5·1 - 2 = -0.5. With 0.5·0.5 = 0.25 of the next advantage each:
  // 1; 2.5 + 0.25 = 2.75; -0.5 + 0.6875 = 0.1875.
  const Advantages result =
      GeneralizedAdvantages({1, 2, 4}, {2, 1, 3}, 0, 0.5F, 0.5F);
  EXPECT_THAT(result.advantages,
              ElementsAre(FloatEq(0.1875F), FloatEq(2.75F), FloatEq(1)));
  EXPECT_THAT(result.returns,
              ElementsAre(FloatEq(2.1875F), FloatEq(3.75F), FloatEq(4)));
}

TEST(GeneralizedAdvantages, WithTraceOneAreReturnsLessValues) {
  const Advantages result =
      GeneralizedAdvantages({1, 2, 4}, {2, 1, 3}, 0, 1, 1);
  EXPECT_THAT(result.advantages,
              ElementsAre(FloatEq(5), FloatEq(5), FloatEq(1)));
  EXPECT_THAT(result.returns, ElementsAre(FloatEq(7), FloatEq(6), FloatEq(4)));
}

TEST(GeneralizedAdvantages, CountTheValueOfWhereAPartEnds) {
  // Surprises, from the last: 4 + 0.5·8 - 3 = 5; 1 + 0.5·3 - 2 = 0.5.
  const Advantages result =
      GeneralizedAdvantages({1, 4}, {2, 3}, 8, 0.5F, 0.5F);
  EXPECT_THAT(result.advantages, ElementsAre(FloatEq(1.75F), FloatEq(5)));
  EXPECT_THAT(result.returns, ElementsAre(FloatEq(3.75F), FloatEq(8)));
}

TEST(GroupAdvantages, AreInDeviationsFromTheMean) {
  // The mean is 3, the deviation 2.
  EXPECT_THAT(GroupAdvantages({1, 5, 1, 5}, 0.01F),
              ElementsAre(FloatEq(-1), FloatEq(1), FloatEq(-1), FloatEq(1)));
}

TEST(GroupAdvantages, OfTiesAreExactlyZero) {
  // A sum of three is not three times the number in floats.
  for (const float value : {0.1F, 1.0F / 3, 1e6F, -0.7F}) {
    EXPECT_THAT(GroupAdvantages({value, value, value}, 1e-3F), Each(0));
  }
}

TEST(GroupAdvantages, OfNearTiesAreSmall) {
  const std::vector<float> advantages =
      GroupAdvantages({0.5F, 0.5F, 0.5001F}, 0.01F);
  for (const float advantage : advantages) {
    EXPECT_LT(std::fabs(advantage), 0.01F);
  }
  EXPECT_GT(advantages[2], 0);
}

TEST(GroupAdvantages, OfOneOrNoneAreNone) {
  EXPECT_THAT(GroupAdvantages({3}, 0.01F), ElementsAre(0));
  EXPECT_THAT(GroupAdvantages({}, 0.01F), IsEmpty());
}

TEST(ScaleToUnit, KeepsSignsAndTheZero) {
  std::vector<float> values = {3, 4, 0, 0};  // root mean square 2.5
  ScaleToUnit(values, 0.1F);
  EXPECT_THAT(values, ElementsAre(FloatNear(1.2F, 1e-6F),
                                  FloatNear(1.6F, 1e-6F), 0, 0));
  values = {0.01F, -0.01F};
  ScaleToUnit(values, 1);
  EXPECT_THAT(values, ElementsAre(0.01F, -0.01F));
}

TEST(LookaheadTargets, AddUpDiscountedRewards) {
  const std::vector<StepTarget> targets =
      LookaheadTargets({1, 2, 4, 8}, {true, true, true, true}, 2, 0.5F);
  ASSERT_EQ(targets.size(), 4);
  EXPECT_FLOAT_EQ(targets[0].reward, 1 + 0.5F * 2);
  EXPECT_EQ(targets[0].next, 2);
  EXPECT_FLOAT_EQ(targets[0].discount, 0.25F);
  // The game is over within the lookahead.
  EXPECT_FLOAT_EQ(targets[2].reward, 4 + 0.5F * 8);
  EXPECT_EQ(targets[2].next, -1);
  EXPECT_FLOAT_EQ(targets[3].reward, 8);
  EXPECT_EQ(targets[3].next, -1);
}

TEST(LookaheadTargets, EndBeforeATurnThatExplored) {
  // The first turn of a lookahead may explore, a later one may not.
  const std::vector<StepTarget> targets =
      LookaheadTargets({1, 2, 4, 8}, {false, true, false, true}, 4, 1);
  EXPECT_FLOAT_EQ(targets[0].reward, 3);
  EXPECT_EQ(targets[0].next, 2);
  EXPECT_FLOAT_EQ(targets[1].reward, 2);
  EXPECT_EQ(targets[1].next, 2);
  EXPECT_FLOAT_EQ(targets[2].reward, 12);
  EXPECT_EQ(targets[2].next, -1);
}

}  // namespace
}  // namespace hone::learning
