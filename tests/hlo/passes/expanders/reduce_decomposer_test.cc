#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/inference/verifier.h"
#include "hlo/passes/registry.h"
#include "hlo/text/printer.h"
#include "tests/hlo/passes/entry.h"
#include "tests/hlo/passes/golden.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

std::string Decomposed(absl::string_view body) {
  return PrintedAfter("reduce-decomposer", body);
}

// Without dimension 1, {1,2,0} is {1,0}: dimension 2 in front of 0.
TEST(ReduceDecomposer, CopiesIntoAnotherLayout) {
  const std::string text = Decomposed(R"(
  x = f32[2,3,4]{1,2,0} parameter(0)
  zero = f32[] constant(0)
  ROOT r = f32[2,4]{0,1} reduce(x, zero), dimensions={1}, to_apply=sum)");
  EXPECT_THAT(text, ::testing::ContainsRegex(R"(f32\[2,4\]\{1,0\} reduce\()"));
  EXPECT_THAT(
      text, ::testing::ContainsRegex(R"(ROOT %?r = f32\[2,4\]\{0,1\} copy\()"));
}

TEST(ReduceDecomposer, KeepsAConvertBesideTheReduction) {
  const std::string text = Decomposed(R"(
  x = f32[2,3,4] parameter(0)
  zero = f32[] constant(0)
  r = f32[2,4]{0,1} reduce(x, zero), dimensions={1}, to_apply=sum
  ROOT c = bf16[2,4]{0,1} convert(r))");
  EXPECT_THAT(text,
              ::testing::ContainsRegex(R"(bf16\[2,4\]\{1,0\} convert\()"));
  EXPECT_THAT(text, ::testing::ContainsRegex(
                        R"(ROOT %?c = bf16\[2,4\]\{0,1\} copy\()"));
}

TEST(ReduceDecomposer, KeepsReductionsInMemoryOrder) {
  ExpectEntryUnchanged("reduce-decomposer", R"(
  x = f32[2,3,4]{0,1,2} parameter(0)
  zero = f32[] constant(0)
  ROOT r = f32[2,4]{0,1} reduce(x, zero), dimensions={1}, to_apply=sum)");
}

TEST(ReduceDecomposer, GivesOperandsAndResultsOneLayout) {
  Module module = ParseForTest(R"(
HloModule m
both {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] parameter(2)
  d = f32[] parameter(3)
  s = f32[] add(a, c)
  t = f32[] add(b, d)
  ROOT r = (f32[], f32[]) tuple(s, t)
}
ENTRY e {
  x = f32[2,3,4] parameter(0)
  y = f32[2,3,4]{0,1,2} parameter(1)
  zero = f32[] constant(0)
  ROOT r = (f32[2,4]{1,0}, f32[2,4]{0,1}) reduce(x, y, zero, zero), dimensions={1}, to_apply=both
})");
  HONE_ASSERT_OK_AND_ASSIGN(const Pass* pass, FindPass("reduce-decomposer"));
  HONE_ASSERT_OK_AND_ASSIGN(const bool changed, pass->Run(module));
  EXPECT_TRUE(changed);
  HONE_EXPECT_OK(VerifyModule(module));
  const std::string text = PrintModule(module);
  EXPECT_THAT(text,
              ::testing::ContainsRegex(R"(f32\[2,3,4\]\{2,1,0\} copy\()"));
  EXPECT_THAT(text,
              ::testing::ContainsRegex(
                  R"(\(f32\[2,4\]\{1,0\}, f32\[2,4\]\{1,0\}\) reduce\()"));
  EXPECT_THAT(text, ::testing::ContainsRegex(R"(f32\[2,4\]\{0,1\} copy\()"));
}

// A bitcast sees the layout, which the copy has.
TEST(ReduceDecomposer, KeepsTheLayoutThatABitcastSees) {
  const std::string text = Decomposed(R"(
  x = f32[2,3,4] parameter(0)
  zero = f32[] constant(0)
  r = f32[2,4]{0,1} reduce(x, zero), dimensions={1}, to_apply=sum, sharding={devices=[2,1]0,1}
  ROOT b = f32[4,2]{1,0} bitcast(r))");
  EXPECT_THAT(
      text, ::testing::ContainsRegex(R"(f32\[2,4\]\{0,1\} copy\(.*sharding=)"));
  EXPECT_THAT(text, ::testing::ContainsRegex(R"(bitcast\(%?r\))"));
}

TEST(ReduceDecomposer, KeepsAttributesOfBothItReplaces) {
  const std::string text = Decomposed(R"(
  x = f32[2,3,4] parameter(0)
  zero = f32[] constant(0)
  r = f32[2,4]{0,1} reduce(x, zero), dimensions={1}, to_apply=sum, frontend_attributes={a="r"}
  ROOT c = bf16[2,4]{0,1} convert(r), frontend_attributes={a="c"})");
  EXPECT_THAT(text, ::testing::ContainsRegex(R"(reduce\(.*a="r")"));
  EXPECT_THAT(text, ::testing::ContainsRegex(R"(copy\(.*a="c")"));
}

}  // namespace
}  // namespace hone::hlo
