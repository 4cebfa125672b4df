#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"
#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

constexpr char kPass[] = "convolution-canonicalization";

TEST(ConvolutionCanonicalization, OrdersTheDimensions) {
  ExpectEntryRewrites(kPass, R"(
  x = f32[1,2,9,8] parameter(0)
  k = f32[4,2,3,3] parameter(1)
  ROOT c = f32[1,4,7,6] convolution(x, k), window={size=3x3}, dim_labels=bf01_oi01->bf01)",
                      R"(
  x = f32[1,2,9,8] parameter(0)
  k = f32[4,2,3,3] parameter(1)
  xt = f32[1,9,8,2] transpose(x), dimensions={0,2,3,1}
  kt = f32[3,3,2,4] transpose(k), dimensions={2,3,1,0}
  c = f32[1,7,6,4] convolution(xt, kt), window={size=3x3}, dim_labels=b01f_01io->b01f
  ROOT t = f32[1,4,7,6] transpose(c), dimensions={0,3,1,2})");
}

TEST(ConvolutionCanonicalization, TransposesOnlyWhatIsNotInOrder) {
  ExpectEntryRewrites(kPass, R"(
  x = f32[1,9,2] parameter(0)
  k = f32[3,4,2] parameter(1)
  ROOT c = f32[1,7,4] convolution(x, k), window={size=3}, dim_labels=b0f_0oi->b0f)",
                      R"(
  x = f32[1,9,2] parameter(0)
  k = f32[3,4,2] parameter(1)
  kt = f32[3,2,4] transpose(k), dimensions={0,2,1}
  ROOT c = f32[1,7,4] convolution(x, kt), window={size=3}, dim_labels=b0f_0io->b0f)");
}

TEST(ConvolutionCanonicalization, KeepsCanonicalConvolutions) {
  ExpectEntryUnchanged(kPass, R"(
  x = f64[1,9,2] parameter(0)
  k = f64[3,2,4] parameter(1)
  ROOT c = f64[1,7,4] convolution(x, k), window={size=3 rhs_reversal=1}, dim_labels=b0f_0io->b0f)");
}

TEST(ConvolutionCanonicalization, KeepsWindowsGroupsAndTypes) {
  ExpectKeepsMeaning(kPass, Entry(R"(
  x = bf16[1,4,9,8] parameter(0)
  k = bf16[6,2,3,3] parameter(1)
  ROOT c = f32[1,6,8,12] convolution(x, k), window={size=3x3 pad=1_2x0_1 lhs_dilate=1x2 rhs_dilate=2x2 rhs_reversal=1x0}, dim_labels=bf01_oi01->bf01, feature_group_count=2, operand_precision={highest,highest})"));
  ExpectKeepsMeaning(kPass, Entry(R"(
  x = c64[2,2,9] parameter(0)
  k = c64[4,2,3] parameter(1)
  ROOT c = c64[1,4,7] convolution(x, k), window={size=3}, dim_labels=bf0_oi0->bf0, batch_group_count=2)"));
}

}  // namespace
}  // namespace hone::hlo
