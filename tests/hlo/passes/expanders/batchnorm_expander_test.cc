#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "hlo/equivalence/equivalence.h"
#include "hlo/inference/verifier.h"
#include "hlo/passes/registry.h"
#include "hlo/rewrite/carried_attributes.h"
#include "hlo/text/printer.h"
#include "tests/hlo/passes/entry.h"
#include "tests/hlo/passes/golden.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

// Expects the same meaning on ordinary values, with nothing of a batch
// normalization left.
void ExpectExpands(absl::string_view body) {
  const Module input = ParseForTest(Entry(body));
  Module module = input;
  HONE_ASSERT_OK_AND_ASSIGN(const Pass* pass, FindPass("batchnorm_expander"));
  HONE_ASSERT_OK_AND_ASSIGN(const bool changed, pass->Run(module));
  EXPECT_TRUE(changed);
  HONE_EXPECT_OK(VerifyModule(module)) << PrintModule(module);
  EXPECT_EQ(PrintModule(module).find("batch-norm"), std::string::npos);
  EquivalenceOptions options;
  options.random_inputs = 4;
  options.adversarial_inputs = 0;
  HONE_ASSERT_OK_AND_ASSIGN(const EquivalenceReport report,
                            CheckEquivalent(input, module, options));
  EXPECT_TRUE(report.equal) << report.explanation;
  // The second run has nothing left to do.
  Module again = module;
  HONE_ASSERT_OK_AND_ASSIGN(const bool changed_again, pass->Run(again));
  EXPECT_FALSE(changed_again);
}

TEST(BatchnormExpander, ExpandsInference) {
  ExpectEntryRewrites("batchnorm_expander", R"(
  x = f32[2,3] parameter(0)
  scale = f32[3] parameter(1)
  offset = f32[3] parameter(2)
  mean = f32[3] parameter(3)
  c = f32[3] parameter(4)
  variance = f32[3] abs(c)
  ROOT r = f32[2,3] batch-norm-inference(x, scale, offset, mean, variance), epsilon=0.5, feature_index=1)",
                      R"(
  x = f32[2,3] parameter(0)
  scale = f32[3] parameter(1)
  offset = f32[3] parameter(2)
  mean = f32[3] parameter(3)
  c = f32[3] parameter(4)
  variance = f32[3] abs(c)
  e = f32[] constant(0.5)
  es = f32[3] broadcast(e), dimensions={}
  v = f32[3] add(variance, es)
  d = f32[3] rsqrt(v)
  s = f32[3] multiply(scale, d)
  m = f32[3] multiply(mean, s)
  t = f32[3] subtract(offset, m)
  ss = f32[2,3] broadcast(s), dimensions={1}
  y = f32[2,3] multiply(x, ss)
  ts = f32[2,3] broadcast(t), dimensions={1}
  ROOT r = f32[2,3] add(y, ts))",
                      {.numerics = Numerics::kFast});
}

// x * s would overflow here, and offset - mean * s likewise.
TEST(BatchnormExpander, KeepsTheRangeOfInference) {
  ExpectExpands(R"(
  x = f32[2,3] constant({{3e38, 1, -1e38}, {2.9e38, 1e-38, 1e38}})
  scale = f32[3] constant({100, 1e20, 1e10})
  offset = f32[3] constant({1, 2, 3})
  mean = f32[3] constant({3e38, 1, -1e38})
  variance = f32[3] constant({1e38, 1e-30, 1e38})
  ROOT r = f32[2,3] batch-norm-inference(x, scale, offset, mean, variance), epsilon=0, feature_index=1)");
}

TEST(BatchnormExpander, ExpandsTraining) {
  for (const int feature : {0, 1, 2}) {
    const int sizes[] = {4, 3, 5};
    const int n = sizes[feature];
    ExpectExpands(absl::StrCat(R"(
  x = f32[4,3,5] parameter(0)
  scale = f32[)",
                               n, R"(] parameter(1)
  offset = f32[)",
                               n, R"(] parameter(2)
  ROOT r = (f32[4,3,5], f32[)",
                               n, "], f32[", n,
                               "]) batch-norm-training(x, scale, offset), "
                               "epsilon=0.001, feature_index=",
                               feature));
  }
}

TEST(BatchnormExpander, ExpandsTheGradient) {
  ExpectExpands(R"(
  x = f32[4,3,5] parameter(0)
  scale = f32[3] parameter(1)
  mean = f32[3] parameter(2)
  c = f32[3] parameter(3)
  variance = f32[3] abs(c)
  dy = f32[4,3,5] parameter(4)
  ROOT r = (f32[4,3,5], f32[3], f32[3]) batch-norm-grad(x, scale, mean, variance, dy), epsilon=0.01, feature_index=1)");
}

TEST(BatchnormExpander, SharesTheRegionOfATypeAndKeepsNamesUnique) {
  const Module input = ParseForTest(R"(
HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY e {
  x = f32[4,3] parameter(0)
  s = f32[3] parameter(1)
  zero = f32[] constant(0)
  a = (f32[4,3], f32[3], f32[3]) batch-norm-training(x, s, s), epsilon=0.01, feature_index=1
  y = f32[4,3] get-tuple-element(a), index=0
  b = (f32[4,3], f32[3], f32[3]) batch-norm-training(y, s, s), epsilon=0.01, feature_index=1
  z = f32[4,3] get-tuple-element(b), index=0
  ROOT r = f32[3] reduce(z, zero), dimensions={0}, to_apply=sum
})");
  Module module = input;
  HONE_ASSERT_OK_AND_ASSIGN(const Pass* pass, FindPass("batchnorm_expander"));
  HONE_ASSERT_OK(pass->Run(module));
  HONE_EXPECT_OK(VerifyModule(module)) << PrintModule(module);
  EXPECT_EQ(module.ComputationPostOrder().size(), 3u);
}

TEST(BatchnormExpander, KeepsEmptyArrays) {
  ExpectEntryUnchanged("batchnorm_expander", R"(
  x = f32[0,3] parameter(0)
  s = f32[3] parameter(1)
  ROOT r = (f32[0,3], f32[3], f32[3]) batch-norm-training(x, s, s), epsilon=0.01, feature_index=1)");
}

// There are more elements per feature than f16 can count, and sums of them are
// out of its range.
TEST(BatchnormExpander, SumsNarrowTypesInF32) {
  for (const char* type : {"f16", "bf16"}) {
    SCOPED_TRACE(type);
    const auto body = [&](absl::string_view text) {
      return absl::StrReplaceAll(text, {{"$T", type}});
    };
    ExpectExpands(body(R"(
  p = $T[70000,2] parameter(0)
  ten = $T[] constant(10)
  tens = $T[70000,2] broadcast(ten), dimensions={}
  x = $T[70000,2] add(p, tens)
  scale = $T[2] parameter(1)
  offset = $T[2] parameter(2)
  ROOT r = ($T[70000,2], $T[2], $T[2]) batch-norm-training(x, scale, offset), epsilon=0.001, feature_index=1)"));
    ExpectExpands(body(R"(
  x = $T[2,70000] parameter(0)
  scale = $T[2] parameter(1)
  mean = $T[2] parameter(2)
  variance = $T[2] constant({1, 0.5})
  dy = $T[2,70000] parameter(3)
  ROOT r = ($T[2,70000], $T[2], $T[2]) batch-norm-grad(x, scale, mean, variance, dy), epsilon=0.001, feature_index=0)"));
    ExpectExpands(body(R"(
  x = $T[2,1] constant({{60000}, {59904}})
  one = $T[1] constant({1})
  two = $T[1] constant({2})
  mean = $T[1] constant({60000})
  ROOT r = $T[2,1] batch-norm-inference(x, two, one, mean, one), epsilon=0, feature_index=1)"));
  }
}

TEST(BatchnormExpander, CarriesTheShardingOfTheTuple) {
  Module module = ParseForTest(Entry(R"(
  x = f32[4,3] parameter(0)
  s = f32[3] parameter(1)
  ROOT r = (f32[4,3], f32[3], f32[3]) batch-norm-training(x, s, s), epsilon=0.01, feature_index=1, sharding={{devices=[2,1]0,1}, {replicated}, {replicated}})"));
  HONE_ASSERT_OK_AND_ASSIGN(const Pass* pass, FindPass("batchnorm_expander"));
  HONE_ASSERT_OK_AND_ASSIGN(const bool changed, pass->Run(module));
  EXPECT_TRUE(changed);
  const Computation& entry = module.entry_computation();
  EXPECT_TRUE(entry[entry.root()].shape().IsTuple());
  EXPECT_NE(FindAttribute(entry[entry.root()], "sharding"), nullptr);
}

}  // namespace
}  // namespace hone::hlo
