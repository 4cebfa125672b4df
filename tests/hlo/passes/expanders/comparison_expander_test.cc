#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "hlo/evaluator/evaluator.h"
#include "hlo/passes/registry.h"
#include "tests/hlo/passes/entry.h"
#include "tests/hlo/passes/golden.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

TEST(ComparisonExpander, ComparesKeysOfFloats) {
  ExpectEntryRewrites("comparison-expander", R"(
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  ROOT r = pred[4] compare(x, y), direction=GT, type=TOTALORDER)",
                      R"(
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  zero = s32[] constant(0)
  zeros = s32[4] broadcast(zero), dimensions={}
  max = s32[] constant(2147483647)
  maxes = s32[4] broadcast(max), dimensions={}
  i = s32[4] bitcast-convert(x)
  in = pred[4] compare(i, zeros), direction=LT
  ix = s32[4] xor(i, maxes)
  ik = s32[4] select(in, ix, i)
  j = s32[4] bitcast-convert(y)
  jn = pred[4] compare(j, zeros), direction=LT
  jx = s32[4] xor(j, maxes)
  jk = s32[4] select(jn, jx, j)
  ROOT r = pred[4] compare(ik, jk), direction=GT)");
}

// Every pair of the values in ascending total order.
TEST(ComparisonExpander, OrdersSpecialValues) {
  Module module = ParseForTest(R"(
HloModule m
ENTRY e {
  v = f32[9] constant({-nan, -inf, -1, -1e-40, -0, 0, 1e-40, inf, nan})
  x = f32[9,9] broadcast(v), dimensions={0}
  y = f32[9,9] broadcast(v), dimensions={1}
  ROOT r = pred[9,9] compare(x, y), direction=LT, type=TOTALORDER
})");
  HONE_ASSERT_OK_AND_ASSIGN(const Pass* pass, FindPass("comparison-expander"));
  HONE_ASSERT_OK_AND_ASSIGN(const bool changed, pass->Run(module));
  EXPECT_TRUE(changed);
  HONE_ASSERT_OK_AND_ASSIGN(const Literal result, Evaluate(module, {}));
  for (int64_t i = 0; i < 9; ++i) {
    for (int64_t j = 0; j < 9; ++j) {
      EXPECT_EQ(result.AsInt(9 * i + j) != 0, i < j) << i << ", " << j;
    }
  }
}

TEST(ComparisonExpander, UsesIntegersOfTheSameWidth) {
  ExpectEntryRewrites("comparison-expander", R"(
  x = bf16[] parameter(0)
  ROOT r = pred[] compare(x, x), direction=EQ, type=TOTALORDER)",
                      R"(
  x = bf16[] parameter(0)
  zero = s16[] constant(0)
  max = s16[] constant(32767)
  i = s16[] bitcast-convert(x)
  n = pred[] compare(i, zero), direction=LT
  t = s16[] xor(i, max)
  k = s16[] select(n, t, i)
  ROOT r = pred[] compare(k, k), direction=EQ)");
}

TEST(ComparisonExpander, KeepsComparisonsByValue) {
  ExpectEntryUnchanged("comparison-expander", R"(
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  ROOT r = pred[4] compare(x, y), direction=GT)");
}

TEST(ComparisonExpander, KeepsTheMeaningForEveryWidth) {
  for (const char* type : {"f16", "bf16", "f32", "f64"}) {
    for (const char* direction : {"EQ", "NE", "LT", "LE", "GT", "GE"}) {
      SCOPED_TRACE(absl::StrCat(type, " ", direction));
      ExpectKeepsMeaning("comparison-expander",
                         Entry(absl::StrReplaceAll(
                             R"(
  v = $T[8] constant({-nan, -inf, -1, -0, 0, 2, inf, nan})
  x = $T[8,8] broadcast(v), dimensions={0}
  y = $T[8,8] broadcast(v), dimensions={1}
  ROOT r = pred[8,8] compare(x, y), direction=$D, type=TOTALORDER)",
                             {{"$T", type}, {"$D", direction}})));
    }
  }
}

TEST(ComparisonExpander, KeepsNarrowTypes) {
  ExpectEntryUnchanged("comparison-expander", R"(
  x = f8e4m3fn[4] parameter(0)
  y = f8e4m3fn[4] parameter(1)
  ROOT r = pred[4] compare(x, y), direction=GT, type=TOTALORDER)");
}

}  // namespace
}  // namespace hone::hlo
