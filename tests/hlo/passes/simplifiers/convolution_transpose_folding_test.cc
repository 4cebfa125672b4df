#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"

namespace hone::hlo {
namespace {

void ExpectFolds(const char* before, const char* after) {
  ExpectEntryRewrites("convolution-transpose-folding", before, after);
}
void ExpectKept(const char* body) {
  ExpectEntryUnchanged("convolution-transpose-folding", body);
}

TEST(ConvolutionTransposeFolding, LeavesShardedConvolutions) {
  ExpectKept(R"(
  x = f32[1,9,2] parameter(0)
  k = f32[3,2,4] parameter(1)
  c = f32[1,7,4] convolution(x, k), window={size=3}, dim_labels=b0f_0io->b0f, sharding={devices=[1,1,2]0,1}
  ROOT t = f32[4,1,7] transpose(c), dimensions={2,0,1})");
}

TEST(ConvolutionTransposeFolding, RelabelsConvolutions) {
  ExpectFolds(R"(
  x = f32[2,9,1] parameter(0)
  k = f32[4,2,3] parameter(1)
  xt = f32[1,9,2] transpose(x), dimensions={2,1,0}
  kt = f32[3,2,4] transpose(k), dimensions={2,1,0}
  c = f32[1,7,4] convolution(xt, kt), window={size=3}, dim_labels=b0f_0io->b0f
  ROOT t = f32[4,1,7] transpose(c), dimensions={2,0,1})",
              R"(
  x = f32[2,9,1] parameter(0)
  k = f32[4,2,3] parameter(1)
  ROOT c = f32[4,1,7] convolution(x, k), window={size=3}, dim_labels=f0b_oi0->fb0)");
}

TEST(ConvolutionTransposeFolding, FoldsChainsOfTransposes) {
  ExpectFolds(R"(
  x = f32[2,9,1] parameter(0)
  k = f32[3,2,4] parameter(1)
  a = f32[9,2,1] transpose(x), dimensions={1,0,2}
  b = f32[1,9,2] transpose(a), dimensions={2,0,1}
  ROOT c = f32[1,7,4] convolution(b, k), window={size=3}, dim_labels=b0f_0io->b0f)",
              R"(
  x = f32[2,9,1] parameter(0)
  k = f32[3,2,4] parameter(1)
  ROOT c = f32[1,7,4] convolution(x, k), window={size=3}, dim_labels=f0b_0io->b0f)");
}

TEST(ConvolutionTransposeFolding, KeepsAResultThatOthersUse) {
  ExpectKept(R"(
  x = f32[1,9,2] parameter(0)
  k = f32[3,2,4] parameter(1)
  c = f32[1,7,4] convolution(x, k), window={size=3}, dim_labels=b0f_0io->b0f
  t = f32[4,1,7] transpose(c), dimensions={2,0,1}
  ROOT r = (f32[1,7,4], f32[4,1,7]) tuple(c, t))");
}

TEST(ConvolutionTransposeFolding, LeavesDots) {
  ExpectKept(R"(
  a = f32[4,2] parameter(0)
  b = f32[4,3] parameter(1)
  at = f32[2,4] transpose(a), dimensions={1,0}
  ROOT d = f32[2,3] dot(at, b), lhs_contracting_dims={1}, rhs_contracting_dims={0})");
}

TEST(ConvolutionTransposeFolding, KeepsGroupsAndWindows) {
  ExpectFolds(R"(
  x = f32[4,9,2] parameter(0)
  k = f32[6,2,3] parameter(1)
  xt = f32[2,9,4] transpose(x), dimensions={2,1,0}
  kt = f32[3,2,6] transpose(k), dimensions={2,1,0}
  ROOT c = f32[2,8,6] convolution(xt, kt), window={size=3 stride=2 pad=2_2 lhs_dilate=2 rhs_dilate=3 rhs_reversal=1}, dim_labels=b0f_0io->b0f, feature_group_count=2, sharding={replicated})",
              R"(
  x = f32[4,9,2] parameter(0)
  k = f32[6,2,3] parameter(1)
  ROOT c = f32[2,8,6] convolution(x, k), window={size=3 stride=2 pad=2_2 lhs_dilate=2 rhs_dilate=3 rhs_reversal=1}, dim_labels=f0b_oi0->b0f, feature_group_count=2, sharding={replicated})");
}

}  // namespace
}  // namespace hone::hlo
