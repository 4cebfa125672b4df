#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"
#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

constexpr char kPass[] = "convolution-group-converter";
const RewriteOptions kFast = {.numerics = Numerics::kFast};

TEST(ConvolutionGroupConverter, SlidesOverFeatureGroups) {
  ExpectEntryRewrites(kPass, R"(
  x = f32[1,6,8] parameter(0)
  k = f32[3,2,6] parameter(1)
  ROOT c = f32[1,6,6] convolution(x, k), window={size=3}, dim_labels=bf0_0io->b0f, feature_group_count=3)",
                      R"(
  x = f32[1,6,8] parameter(0)
  k = f32[3,2,6] parameter(1)
  xr = f32[1,3,2,8] reshape(x)
  kr = f32[3,2,3,2] reshape(k)
  c = f32[1,6,3,2] convolution(xr, kr), window={size=3x3 stride=1x2 lhs_dilate=1x3}, dim_labels=b1f0_0i1o->b01f
  ROOT r = f32[1,6,6] reshape(c))",
                      kFast);
}

TEST(ConvolutionGroupConverter, SlidesOverBatchGroups) {
  ExpectEntryRewrites(kPass, R"(
  x = f32[4,8,3] parameter(0)
  k = f32[5,3,6] parameter(1)
  ROOT c = f32[6,4,2] convolution(x, k), window={size=5}, dim_labels=b0f_0io->f0b, batch_group_count=2)",
                      R"(
  x = f32[4,8,3] parameter(0)
  k = f32[5,3,6] parameter(1)
  xr = f32[2,2,8,3] reshape(x)
  kr = f32[5,3,2,3] reshape(k)
  c = f32[2,3,4,2] convolution(xr, kr), window={size=5x2 stride=1x1 lhs_dilate=1x2}, dim_labels=1b0f_0i1o->1f0b
  ROOT r = f32[6,4,2] reshape(c))",
                      kFast);
}

TEST(ConvolutionGroupConverter, KeepsLibraryAndPlainConvolutions) {
  ExpectEntryUnchanged(kPass, R"(
  x = f32[1,8,6] parameter(0)
  k = f32[3,2,6] parameter(1)
  y = f64[1,6,8] parameter(2)
  l = f64[4,6,3] parameter(3)
  c = f32[1,6,6] convolution(x, k), window={size=3}, dim_labels=b0f_0io->b0f, feature_group_count=3
  d = f64[1,4,6] convolution(y, l), window={size=3}, dim_labels=bf0_oi0->bf0
  ROOT t = (f32[1,6,6], f64[1,4,6]) tuple(c, d))",
                       kFast);
}

TEST(ConvolutionGroupConverter, KeepsWindowsAndTypes) {
  const std::pair<const char*, const char*> windows[] = {
      {"size=3 rhs_reversal=1", "6"},
      {"size=3 pad=2_1 lhs_dilate=2 rhs_dilate=2", "14"},
      {"size=3 stride=2 pad=-1_3 rhs_reversal=1", "4"}};
  for (const auto& [window, size] : windows) {
    for (const char* type : {"f64", "c64", "s8"}) {
      SCOPED_TRACE(absl::StrCat(window, " ", type));
      ExpectKeepsMeaning(kPass,
                         Entry(absl::StrReplaceAll(
                             R"(
  x = $T[2,6,8] parameter(0)
  k = $T[3,2,6] parameter(1)
  ROOT c = $T[2,6,$S] convolution(x, k), window={$W}, dim_labels=bf0_0io->bf0, feature_group_count=3)",
                             {{"$T", type}, {"$S", size}, {"$W", window}})),
                         kFast);
    }
  }
}

TEST(ConvolutionGroupConverter, KeepsTheResultType) {
  ExpectKeepsMeaning(kPass, Entry(R"(
  x = s8[4,8,3] parameter(0)
  k = s8[5,3,6] parameter(1)
  ROOT c = s32[6,4,2] convolution(x, k), window={size=5}, dim_labels=b0f_0io->f0b, batch_group_count=2)"));
}

// Zeros in the holes, times an infinite element of another group, are NaN.
TEST(ConvolutionGroupConverter, KeepsFloatsUnlessTheirRangeMayChange) {
  ExpectEntryUnchanged(kPass, R"(
  x = f32[1,6,8] parameter(0)
  k = f32[3,2,6] parameter(1)
  ROOT c = f32[1,6,6] convolution(x, k), window={size=3}, dim_labels=bf0_0io->b0f, feature_group_count=3)");
}

// The square of their number is no size.
TEST(ConvolutionGroupConverter, KeepsGroupsBeyondAnySize) {
  ExpectUnchanged(kPass, Entry(R"(
  x = s8[1,1,2147483648] parameter(0)
  k = s8[1,1,2147483648] parameter(1)
  ROOT c = s8[1,1,2147483648] convolution(x, k), window={size=1}, dim_labels=b0f_0io->b0f, feature_group_count=2147483648)"),
                  kFast);
}

}  // namespace
}  // namespace hone::hlo
