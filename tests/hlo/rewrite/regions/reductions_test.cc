#include "hlo/rewrite/regions/reductions.h"

#include "gtest/gtest.h"

namespace hone::hlo {
namespace {

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

}  // namespace
}  // namespace hone::hlo
