#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "hlo/analysis/fingerprint.h"
#include "hlo/passes/registry.h"
#include "hlo/rewrite/carried_attributes.h"
#include "tests/hlo/passes/entry.h"
#include "tests/hlo/passes/golden.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

TEST(TreeReductionRewriter, ReducesALargeDimensionInBlocks) {
  ExpectEntryRewrites("tree_reduction_rewriter", R"(
  x = f32[64,5] parameter(0)
  zero = f32[] constant(0)
  ROOT r = f32[5] reduce(x, zero), dimensions={0}, to_apply=sum)",
                      R"(
  x = f32[64,5] parameter(0)
  zero = f32[] constant(0)
  w = f32[2,5] reduce-window(x, zero), window={size=32x1 stride=32x1}, to_apply=sum
  ROOT r = f32[5] reduce(w, zero), dimensions={0}, to_apply=sum)");
}

// 7 elements too few for three windows: 3 in front, 4 behind. The dimension of
// 4 beside the large one becomes one window.
TEST(TreeReductionRewriter, PadsTheLastWindow) {
  ExpectEntryRewrites("tree_reduction_rewriter", R"(
  x = f32[89,4,2] parameter(0)
  low = f32[] constant(-inf)
  ROOT r = f32[2] reduce(x, low), dimensions={0,1}, to_apply=maximum)",
                      R"(
  x = f32[89,4,2] parameter(0)
  low = f32[] constant(-inf)
  w = f32[3,1,2] reduce-window(x, low), window={size=32x4x1 stride=32x4x1 pad=3_4x0_0x0_0}, to_apply=maximum
  ROOT r = f32[2] reduce(w, low), dimensions={0,1}, to_apply=maximum)");
}

TEST(TreeReductionRewriter, KeepsSmallReductions) {
  ExpectEntryUnchanged("tree_reduction_rewriter", R"(
  x = f32[64,32] parameter(0)
  zero = f32[] constant(0)
  ROOT r = f32[64] reduce(x, zero), dimensions={1}, to_apply=sum)");
}

// XLA:CPU does the same; a transpose is no use to the library.
TEST(TreeReductionRewriter, LeavesLargeArraysToALibrary) {
  ExpectEntryUnchanged("tree_reduction_rewriter", R"(
  x = f32[64,64] parameter(0)
  zero = f32[] constant(0)
  ROOT r = f32[64] reduce(x, zero), dimensions={0}, to_apply=sum)");
  ExpectEntryRewrites("tree_reduction_rewriter", R"(
  x = f32[64,64] parameter(0)
  t = f32[64,64] transpose(x), dimensions={1,0}
  zero = f32[] constant(0)
  ROOT r = f32[64] reduce(t, zero), dimensions={0}, to_apply=sum)",
                      R"(
  x = f32[64,64] parameter(0)
  t = f32[64,64] transpose(x), dimensions={1,0}
  zero = f32[] constant(0)
  w = f32[2,64] reduce-window(t, zero), window={size=32x1 stride=32x1}, to_apply=sum
  ROOT r = f32[64] reduce(w, zero), dimensions={0}, to_apply=sum)");
}

// Each window would start from 1.
TEST(TreeReductionRewriter, KeepsAnInitialValueThatIsNotTheIdentity) {
  ExpectEntryUnchanged("tree_reduction_rewriter", R"(
  x = f32[64] parameter(0)
  one = f32[] constant(1)
  ROOT r = f32[] reduce(x, one), dimensions={0}, to_apply=sum)");
  ExpectEntryUnchanged("tree_reduction_rewriter", R"(
  x = f32[64] parameter(0)
  init = f32[] parameter(1)
  ROOT r = f32[] reduce(x, init), dimensions={0}, to_apply=sum)");
}

TEST(TreeReductionRewriter, KeepsRegionsThatDependOnTheOrder) {
  ExpectUnchanged("tree_reduction_rewriter", R"(
HloModule m
last {
  a = f32[] parameter(0)
  ROOT b = f32[] parameter(1)
}
ENTRY e {
  x = f32[64] parameter(0)
  zero = f32[] constant(0)
  ROOT r = f32[] reduce(x, zero), dimensions={0}, to_apply=last
})");
}

TEST(TreeReductionRewriter, KeepsReductionsOfSeveralArrays) {
  ExpectUnchanged("tree_reduction_rewriter", R"(
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
  x = f32[64] parameter(0)
  y = f32[64] parameter(1)
  zero = f32[] constant(0)
  ROOT r = (f32[], f32[]) reduce(x, y, zero, zero), dimensions={0}, to_apply=both
})");
}

std::string Text(absl::string_view type, absl::string_view opcode,
                 absl::string_view init, absl::string_view reduction) {
  return absl::StrReplaceAll(
      R"(
HloModule m
f {
  a = $T[] parameter(0)
  b = $T[] parameter(1)
  ROOT r = $T[] $F(a, b)
}
ENTRY e {
  x = $T[70] parameter(0)
  init = $T[] constant($I)
  $R
})",
      {{"$R", reduction}, {"$T", type}, {"$F", opcode}, {"$I", init}});
}

std::string Reduction(absl::string_view type, absl::string_view opcode,
                      absl::string_view init) {
  return Text(type, opcode, init,
              absl::StrCat("ROOT r = ", type,
                           "[] reduce(x, init), dimensions={0}, to_apply=f"));
}

std::string Blocks(absl::string_view type, absl::string_view opcode,
                   absl::string_view init) {
  return Text(
      type, opcode, init,
      absl::StrCat("w = ", type,
                   "[3] reduce-window(x, init), window={size=32 "
                   "stride=32 pad=13_13}, to_apply=f\n  ROOT r = ",
                   type, "[] reduce(w, init), dimensions={0}, to_apply=f"));
}

constexpr char kPass[] = "tree_reduction_rewriter";

RewriteOptions Exact() { return {.numerics = Numerics::kExact}; }
RewriteOptions Fast() { return {.numerics = Numerics::kFast}; }

TEST(TreeReductionRewriter, IsExactForIntegersAndExtremes) {
  ExpectKeepsMeaning(kPass, Reduction("s8", "add", "0"), Exact());
  ExpectKeepsMeaning(kPass, Reduction("u32", "multiply", "1"), Exact());
  ExpectKeepsMeaning(kPass, Reduction("bf16", "maximum", "-inf"), Exact());
  ExpectKeepsMeaning(kPass, Reduction("s16", "minimum", "32767"), Exact());
  ExpectKeepsMeaning(kPass, Reduction("pred", "and", "true"), Exact());
  ExpectUnchanged(kPass, Reduction("f32", "add", "0"), Exact());
  ExpectKeepsMeaning(kPass, Reduction("f64", "add", "0"));
}

// 32 values of 3000 are more than f16 holds, though the sum of all is not.
TEST(TreeReductionRewriter, KeepsTheRangeOfNarrowSumsAndProducts) {
  for (const char* type : {"f16", "bf16"}) {
    ExpectUnchanged(kPass, Reduction(type, "add", "0"));
    // No comparison of values: sums of so many narrow numbers differ by more
    // than rounding.
    Module module = ParseForTest(Reduction(type, "add", "0"));
    HONE_ASSERT_OK_AND_ASSIGN(const Pass* pass, FindPass(kPass));
    HONE_ASSERT_OK_AND_ASSIGN(const bool changed, pass->Run(module, Fast()));
    EXPECT_TRUE(changed);
    EXPECT_EQ(Fingerprint(module),
              Fingerprint(ParseForTest(Blocks(type, "add", "0"))));
  }
  ExpectUnchanged(kPass, Reduction("f32", "multiply", "1"));
  ExpectRewrites(kPass, Reduction("f32", "multiply", "1"),
                 Blocks("f32", "multiply", "1"), Fast());
}

TEST(TreeReductionRewriter, CarriesAttributes) {
  const Module module = ExpectKeepsMeaning(
      kPass, absl::StrReplaceAll(
                 Reduction("s32", "add", "0"),
                 {{"to_apply=f", "to_apply=f, sharding={replicated}"}}));
  const Computation& entry = module.entry_computation();
  EXPECT_NE(FindAttribute(entry[entry.root()], "sharding"), nullptr);
}

}  // namespace
}  // namespace hone::hlo
