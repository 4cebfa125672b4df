// Rewrites that algsimp makes only if the caller permits them, and rewrites
// that it never makes.

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "tests/hlo/passes/algsimp/rule_check.h"
#include "tests/hlo/passes/entry.h"

namespace hone::hlo {
namespace {

// The least setting under which the pass changes the module, or "never".
std::string ChangesFrom(const std::string& text) {
  for (Numerics numerics :
       {Numerics::kExact, Numerics::kReassociate, Numerics::kFast}) {
    if (Changes(text, numerics)) return std::string(NumericsName(numerics));
  }
  return "never";
}

std::string TypedEntry(absl::string_view body, absl::string_view type) {
  return absl::StrReplaceAll(
      absl::StrCat("HloModule m\nsum {\n  a = $T[] parameter(0)\n"
                   "  b = $T[] parameter(1)\n  ROOT r = $T[] add(a, b)\n}\n"
                   "ENTRY e {\n",
                   body, "\n}\n"),
      {{"$T", type}});
}

TEST(AlgsimpNumerics, ReductionsOfReductionsOfFloatsChangeRange) {
  const auto from = [](absl::string_view type) {
    return ChangesFrom(TypedEntry(R"(
  p = $T[2,3,4] parameter(0)
  zero = $T[] constant(0)
  t = $T[2,4] reduce(p, zero), dimensions={1}, to_apply=sum
  ROOT s = $T[2] reduce(t, zero), dimensions={1}, to_apply=sum)",
                                  type));
  };
  EXPECT_EQ(from("f32"), "fast");
  EXPECT_EQ(from("bf16"), "fast");
  EXPECT_EQ(from("f64"), "fast");
  EXPECT_EQ(from("f8e5m2"), "never");
  EXPECT_EQ(from("s32"), "exact");
  EXPECT_EQ(from("u8"), "exact");
}

TEST(AlgsimpNumerics, SumsIntoScattersAreExactWhereNothingIsUpdatedTwice) {
  const auto from = [](absl::string_view type, absl::string_view attribute) {
    return ChangesFrom(
        TypedEntry(absl::StrCat(R"(
  x = $T[8] parameter(0)
  i = s32[100,1] parameter(1)
  u = $T[100] parameter(2)
  zero = $T[] constant(0)
  zeros = $T[8] broadcast(zero), dimensions={}
  s = $T[8] scatter(zeros, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum)",
                                attribute, "\n  ROOT r = $T[8] add(x, s)"),
                   type));
  };
  EXPECT_EQ(from("f32", ""), "fast");
  EXPECT_EQ(from("f64", ""), "fast");
  EXPECT_EQ(from("bf16", ""), "never");
  EXPECT_EQ(from("f16", ""), "never");
  EXPECT_EQ(from("s32", ""), "exact");
  EXPECT_EQ(from("bf16", ", unique_indices=true"), "exact");
  EXPECT_EQ(from("f32", ", unique_indices=true"), "exact");
  EXPECT_EQ(from("f32", ", sharding={replicated}"), "never");
}

TEST(AlgsimpNumerics, RoundingRulesWaitForPermission) {
  const auto from = [](absl::string_view type, absl::string_view body) {
    return ChangesFrom(TypedEntry(absl::StrCat(R"(
  p = $T[] parameter(0)
  one = $T[] constant(1)
  two = $T[] constant(2)
  three = $T[] constant(3)
  eighth = $T[] constant(0.125)
)",
                                               body),
                                  type));
  };
  constexpr char kRsqrt[] = "a = $T[] sqrt(p)\nROOT r = $T[] divide(one, a)";
  constexpr char kSquare[] = "ROOT r = $T[] power(p, two)";
  constexpr char kOffsets[] =
      "a = $T[] add(p, two)\nROOT r = $T[] add(a, three)";
  constexpr char kScales[] =
      "a = $T[] multiply(p, two)\nROOT r = $T[] multiply(a, three)";
  constexpr char kUndone[] =
      "a = $T[] multiply(p, two)\nROOT r = $T[] multiply(a, eighth)";
  constexpr char kNegated[] =
      "a = $T[] multiply(p, two)\nROOT r = $T[] negate(a)";
  for (const char* body : {kRsqrt, kSquare, kOffsets, kScales}) {
    EXPECT_EQ(from("f32", body), "reassociate") << body;
    EXPECT_EQ(from("f8e5m2", body), "never") << body;
  }
  EXPECT_EQ(from("f16", kRsqrt), "reassociate");
  EXPECT_EQ(from("f16", kSquare), "reassociate");
  // Two roundings may stop at 65504 where one gives infinity.
  EXPECT_EQ(from("f16", kOffsets), "fast");
  EXPECT_EQ(from("f16", kScales), "fast");
  EXPECT_EQ(from("f32", kUndone), "reassociate");
  // In f16 an overflow is how a training loop finds its loss scale.
  EXPECT_EQ(from("f16", kUndone), "fast");
  EXPECT_EQ(from("f32", kNegated), "exact");
}

TEST(AlgsimpNumerics, NoRuleReadsAPaddingThatIsNoIdentity) {
  const auto from = [](absl::string_view padding, absl::string_view init) {
    return ChangesFrom(EntryWithRegions(
        absl::StrCat("p = f32[4] parameter(0)\nv = f32[] constant(", padding,
                     ")\ni = f32[] constant(", init,
                     ")\nx = f32[6] pad(p, v), padding=1_1\n"
                     "ROOT w = f32[4] reduce-window(x, i), window={size=3}, "
                     "to_apply=sum")));
  };
  EXPECT_EQ(from("5", "5"), "never");
  EXPECT_EQ(from("5", "0"), "never");
  EXPECT_EQ(from("-inf", "-inf"), "never");
  EXPECT_EQ(from("0", "5"), "exact");
  EXPECT_EQ(from("0", "0"), "exact");
}

TEST(AlgsimpNumerics, ABitcastToAnotherLayoutPermutes) {
  ExpectEntryUnchanged("algsimp", R"(
  p = f32[2,2]{0,1} parameter(0)
  b = f32[2,2]{1,0} bitcast(p)
  ROOT n = f32[2,2]{1,0} negate(b))");
  ExpectEntryUnchanged("algsimp", R"(
  p = s8[3,3,3]{2,1,0} parameter(0)
  b = s8[3,3,3]{0,1,2} bitcast(p)
  ROOT n = s8[3,3,3]{0,1,2} negate(b))");
  EXPECT_EQ(ChangesFrom(Entry(R"(
  p = f32[2,2]{0,1} parameter(0)
  b = f32[2,2]{0,1} bitcast(p)
  ROOT n = f32[2,2]{0,1} negate(b))")),
            "exact");
}

TEST(AlgsimpNumerics, AnnotatedOperationsAreNotMergedAway) {
  ExpectEntryUnchanged("algsimp", R"(
  x = f32[8,1,4] parameter(0), sharding={devices=[2,1,1]<=[2]}
  z = f32[] constant(0)
  s = f32[8,1] reduce(x, z), dimensions={2}, to_apply=sum, sharding={devices=[2,1]<=[2]}
  ROOT r = f32[8] reshape(s))");
  ExpectEntryUnchanged("algsimp", R"(
  x = f32[9,8] parameter(0)
  i = s32[4] parameter(1)
  g = f32[4,8] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}, frontend_attributes={k="v"}
  ROOT r = f32[4,1,8] reshape(g))");
  ExpectEntryUnchanged("algsimp", R"(
  a = f32[2,3] parameter(0)
  b = f32[3,4] parameter(1)
  d = f32[2,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={highest,default}
  ROOT t = f32[4,2] transpose(d), dimensions={1,0})");
  ExpectEntryUnchanged("algsimp", R"(
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  c = pred[4] compare(x, y), direction=EQ, sharding={devices=[2]<=[2]}
  ROOT n = pred[4] not(c))");
}

}  // namespace
}  // namespace hone::hlo
