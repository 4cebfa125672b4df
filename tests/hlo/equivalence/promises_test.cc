#include "hlo/equivalence/promises.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/text/parser.h"

namespace hone::hlo {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

Module Parse(const std::string& text) {
  absl::StatusOr<Module> module = ParseHloText(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

// A chain of two dots with these further attributes.
Module Dots(const std::string& first, const std::string& second,
            const std::string& type = "f32") {
  const std::string shape = absl::StrCat(type, "[4,4]");
  return Parse(absl::StrCat(
      "HloModule m\nENTRY e {\n  p = ", shape, " parameter(0)\n  d = ", shape,
      " dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}", first,
      "\n  ROOT r = ", shape,
      " dot(d, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}", second,
      "\n}"));
}

constexpr char kHigh[] = ", operand_precision={high,high}";
constexpr char kHighest[] = ", operand_precision={highest,highest}";
constexpr char kMixed[] = ", operand_precision={highest,default}";
constexpr char kBf16[] = ", algorithm=dot_bf16_bf16_f32";
constexpr char kF32[] = ", algorithm=dot_f32_f32_f32";

TEST(PromiseDifference, PrecisionMayNotGoBelowTheLowest) {
  EXPECT_EQ(PromiseDifference(Dots(kHighest, kHigh), Dots(kHigh, kHighest)),
            std::nullopt);
  EXPECT_EQ(PromiseDifference(Dots("", kHigh), Dots(kHighest, kHighest)),
            std::nullopt);
  EXPECT_THAT(PromiseDifference(Dots(kHighest, kHigh), Dots(kHighest, "")),
              Optional(std::string("lowest operand_precision: high in the "
                                   "original, default in the rewrite")));
  EXPECT_THAT(
      PromiseDifference(Dots(kHighest, kHighest), Dots(kHighest, kMixed)),
      Optional(HasSubstr("default in the rewrite")));
}

TEST(PromiseDifference, PrecisionOfNarrowTypesIsNone) {
  for (const char* type : {"s32", "bf16"}) {
    EXPECT_EQ(
        PromiseDifference(Dots(kHighest, kHighest, type), Dots("", "", type)),
        std::nullopt);
  }
}

TEST(PromiseDifference, AlgorithmsAreThoseOfTheOriginal) {
  EXPECT_EQ(PromiseDifference(Dots(kF32, kBf16), Dots(kBf16, kF32)),
            std::nullopt);
  EXPECT_THAT(PromiseDifference(Dots("", ""), Dots("", kBf16)),
              Optional(std::string(
                  "algorithm of a dot: none in the original, dot_bf16_bf16_f32 "
                  "in the rewrite")));
  EXPECT_THAT(PromiseDifference(Dots(kF32, kF32), Dots(kF32, "")),
              Optional(HasSubstr("none in the rewrite")));
}

TEST(PromiseDifference, ADotOfSomethingElseHasTheDefaults) {
  const Module none = Parse(
      "HloModule m\nENTRY e {\n  p = f32[4,4] parameter(0)\n"
      "  ROOT r = f32[4,4] negate(p)\n}");
  EXPECT_EQ(PromiseDifference(none, Dots("", "")), std::nullopt);
  EXPECT_EQ(PromiseDifference(Dots(kHighest, kF32), none), std::nullopt);
  EXPECT_NE(PromiseDifference(none, Dots("", kBf16)), std::nullopt);
}

// A gather of `rows` rows, and a scatter of as many, with these attributes.
Module Rows(int rows, const std::string& of_gather,
            const std::string& of_scatter) {
  const std::string r = absl::StrCat(rows);
  return Parse(absl::StrCat(
      R"(
HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY e {
  x = f32[32,4] parameter(0)
  i = s32[)",
      r, ",1] parameter(1)\n  g = f32[", r,
      ",4] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, "
      "start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}",
      of_gather,
      "\n  ROOT s = f32[32,4] scatter(x, i, g), update_window_dims={1}, "
      "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
      "index_vector_dim=1, to_apply=add",
      of_scatter, "\n}"));
}

constexpr char kSorted[] = ", indices_are_sorted=true";
constexpr char kUnique[] = ", unique_indices=true";

TEST(PromiseDifference, ClaimsOfIndicesMayNotBeMore) {
  EXPECT_EQ(PromiseDifference(Rows(6, kSorted, kUnique), Rows(6, "", kUnique)),
            std::nullopt);
  EXPECT_THAT(PromiseDifference(Rows(6, "", ""), Rows(6, "", kUnique)),
              Optional(std::string("instructions with unique_indices: 0 in the "
                                   "original, 1 in the rewrite")));
  EXPECT_THAT(
      PromiseDifference(Rows(6, kSorted, ""), Rows(6, kSorted, kSorted)),
      Optional(HasSubstr("indices_are_sorted: 1 in the original, 2")));
}

TEST(PromiseDifference, AClaimOfOneIndexIsTrue) {
  EXPECT_EQ(PromiseDifference(Rows(1, "", ""), Rows(1, kSorted, kUnique)),
            std::nullopt);
}

// A sort that the entry reaches through two calls.
Module Sorts(const std::string& first, const std::string& second) {
  const auto computation = [](const std::string& name,
                              const std::string& attributes) {
    return absl::StrCat(name,
                        " {\n  x = f32[8] parameter(0)\n  ROOT s = f32[8] "
                        "sort(x), dimensions={0}, to_apply=less",
                        attributes, "\n}\n\n");
  };
  return Parse(absl::StrCat(R"(
HloModule m

less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT
}

)",
                            computation("f", first), computation("g", second),
                            R"(ENTRY e {
  p = f32[8] parameter(0)
  a = f32[8] call(p), to_apply=f
  b = f32[8] negate(a)
  ROOT c = f32[8] call(b), to_apply=g
})"));
}

TEST(PromiseDifference, UnstableSortsMayNotBeMore) {
  const std::string stable = ", is_stable=true";
  EXPECT_EQ(PromiseDifference(Sorts(stable, ""), Sorts(stable, stable)),
            std::nullopt);
  EXPECT_THAT(PromiseDifference(Sorts(stable, stable), Sorts(stable, "")),
              Optional(std::string("unstable sorts: 0 in the original, 1 in "
                                   "the rewrite")));
}

TEST(PromiseDifference, AComputationCountsOncePerCall) {
  const std::string less = R"(
HloModule m

less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT
}

)";
  const Module shared = Parse(less + R"(
f {
  x = f32[8] parameter(0)
  ROOT s = f32[8] sort(x), dimensions={0}, to_apply=less
}

ENTRY e {
  p = f32[8] parameter(0)
  a = f32[8] call(p), to_apply=f
  b = f32[8] negate(a)
  ROOT c = f32[8] call(b), to_apply=f
})");
  const Module inlined = Parse(less + R"(
ENTRY e {
  p = f32[8] parameter(0)
  a = f32[8] sort(p), dimensions={0}, to_apply=less
  b = f32[8] negate(a)
  ROOT c = f32[8] sort(b), dimensions={0}, to_apply=less
})");
  EXPECT_EQ(PromiseDifference(shared, inlined), std::nullopt);
  EXPECT_EQ(PromiseDifference(inlined, shared), std::nullopt);
}

}  // namespace
}  // namespace hone::hlo
