#include "hlo/rewrite/builder.h"

#include <optional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"
#include "tests/hlo/passes/golden.h"

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

TEST(IsReductionIdentity, KnowsTheExtremesOfEachType) {
  const auto is = [](Opcode opcode, ElementType type, double value) {
    return IsReductionIdentity(opcode, Literal::Scalar(type, value));
  };
  EXPECT_TRUE(is(Opcode::kAdd, ElementType::kF32, 0));
  EXPECT_FALSE(is(Opcode::kAdd, ElementType::kF32, 1));
  EXPECT_TRUE(is(Opcode::kMultiply, ElementType::kS32, 1));
  EXPECT_TRUE(is(Opcode::kMaximum, ElementType::kS8, -128));
  EXPECT_FALSE(is(Opcode::kMaximum, ElementType::kS16, -128));
  EXPECT_TRUE(is(Opcode::kMinimum, ElementType::kU8, 255));
  EXPECT_TRUE(is(Opcode::kMaximum, ElementType::kU32, 0));
  EXPECT_TRUE(is(Opcode::kAnd, ElementType::kPred, 1));
  EXPECT_TRUE(is(Opcode::kOr, ElementType::kPred, 0));
  EXPECT_FALSE(is(Opcode::kMaximum, ElementType::kF32, -3e38));
}

TEST(UniformLiteral, LooksThroughBroadcastsOnly) {
  const Module module = ParseForTest(Entry(R"(
  c = f32[] constant(2.5)
  b = f32[4] broadcast(c), dimensions={}
  r = f32[2,2] reshape(b)
  n = f32[2,2] negate(r)
  d = f32[2] constant({1, 1})
  ROOT t = (f32[2,2], f32[2,2], f32[2]) tuple(r, n, d))"));
  const Computation& c = module.entry_computation();
  const Instruction& root = c[c.root()];
  EXPECT_TRUE(IsUniform(c, root.operand(0), 2.5));
  EXPECT_FALSE(IsUniform(c, root.operand(0), 2));
  EXPECT_EQ(UniformLiteral(c, root.operand(1)), nullptr);
  EXPECT_EQ(UniformLiteral(c, root.operand(2)), nullptr);
}

}  // namespace
}  // namespace hone::hlo
