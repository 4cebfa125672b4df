#include "hlo/rewrite/dimensions.h"

#include <optional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hone::hlo {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

TEST(UnmodifiedDimensions, FindsWhatAReshapeKeeps) {
  EXPECT_THAT(UnmodifiedDimensions({2, 16, 1}, {2, 16}, {0, 1}),
              Optional(ElementsAre(0, 1)));
  EXPECT_THAT(UnmodifiedDimensions({2, 3, 4}, {6, 1, 4}, {2}),
              Optional(ElementsAre(2)));
  EXPECT_THAT(UnmodifiedDimensions({2, 3}, {6}, {}), Optional(ElementsAre()));
}

TEST(UnmodifiedDimensions, RefusesWhatAReshapeSplitsMergesOrMoves) {
  EXPECT_EQ(UnmodifiedDimensions({2, 3}, {6}, {0}), std::nullopt);
  EXPECT_EQ(UnmodifiedDimensions({6}, {2, 3}, {0}), std::nullopt);
  // The size is there, the stride is not.
  EXPECT_EQ(UnmodifiedDimensions({2, 3, 4}, {4, 3, 2}, {1}), std::nullopt);
  EXPECT_EQ(UnmodifiedDimensions({2, 1, 16}, {2, 16}, {1}), std::nullopt);
  EXPECT_EQ(UnmodifiedDimensions({0, 3}, {3, 0}, {1}), std::nullopt);
}

TEST(OnlyDegenerateDimensionsDiffer, ComparesTheOthersInOrder) {
  EXPECT_TRUE(OnlyDegenerateDimensionsDiffer({1, 2, 3}, {2, 1, 3, 1}));
  EXPECT_TRUE(OnlyDegenerateDimensionsDiffer({}, {1}));
  EXPECT_FALSE(OnlyDegenerateDimensionsDiffer({2, 3}, {3, 2}));
  EXPECT_FALSE(OnlyDegenerateDimensionsDiffer({2, 3}, {2}));
}

}  // namespace
}  // namespace hone::hlo
