#include "hlo/rewrite/matchers.h"

#include "gtest/gtest.h"

#include "hlo/rewrite/rewriter.h"
#include "tests/hlo/rewrite/entry_module.h"

namespace hone::hlo {
namespace {

class MatchersTest : public testing::Test {
 protected:
  Module module_ = EntryModule(R"(
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  one = f32[] constant(1)
  ones = f32[4] broadcast(one), dimensions={}
  n = f32[4] negate(y)
  a = f32[4] add(x, n)
  b = f32[4] multiply(ones, a)
  ROOT t = (f32[4], f32[4]) tuple(b, n))");
  RewriteOptions options_;
  Rewriter r_{module_, module_.entry(), options_};
};

TEST_F(MatchersTest, CapturesOperandsAndTheInstructionItself) {
  InstructionId x, y, negate;
  ASSERT_TRUE(r_.Match(Find(module_, "a"),
                       m::Add(m::Op(&x), m::Negate(&negate, m::Op(&y)))));
  EXPECT_EQ(x, Find(module_, "x"));
  EXPECT_EQ(y, Find(module_, "y"));
  EXPECT_EQ(negate, Find(module_, "n"));
}

TEST_F(MatchersTest, KeepsTheOrderUnlessToldOtherwise) {
  InstructionId a;
  const InstructionId b = Find(module_, "b");
  EXPECT_FALSE(r_.Match(b, m::Multiply(m::Op(&a), m::Uniform(1))));
  ASSERT_TRUE(r_.Match(b, m::MultiplyAnyOrder(m::Op(&a), m::Uniform(1))));
  EXPECT_EQ(a, Find(module_, "a"));
  EXPECT_FALSE(r_.Match(b, m::MultiplyAnyOrder(m::Op(), m::Uniform(2))));
}

TEST_F(MatchersTest, AnswersNoForNoInstruction) {
  EXPECT_FALSE(r_.Match(kNoInstruction, m::Op()));
}

}  // namespace
}  // namespace hone::hlo
