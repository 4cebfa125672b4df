#include "costmodels/xla_cpu_loops.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "costmodels/xla_cpu_kernels.h"
#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::costmodels {
namespace {

// The features of the only kernel of an entry computation with these lines.
XlaCpuFeatures FeaturesOfLoop(absl::string_view lines) {
  const absl::StatusOr<hlo::Module> module = hlo::ParseHloText(absl::StrCat(
      R"(HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY main {
  x = f32[16,32] parameter(0)
  y = f32[32,16] parameter(1)
  v = f32[32] parameter(2)
  small = f32[8,8] parameter(3)
  big = f32[2048,1024] parameter(4)
  zero = f32[] constant(0)
)",
      lines, "}\n"));
  HONE_EXPECT_OK(module);
  if (!module.ok()) return {};
  const hlo::Computation& entry = module->entry_computation();
  const std::vector<XlaCpuKernel> kernels = GroupXlaCpuKernels(*module, entry);
  EXPECT_EQ(kernels.size(), 1u);
  return FeaturesOf(*module, entry, kernels[0]);
}

TEST(XlaCpuLoops, CountsWhatRunsAlongMemory) {
  const XlaCpuFeatures features =
      FeaturesOfLoop(R"(e = f32[16,32] exponential(x)
  b = f32[16,32] broadcast(v), dimensions={1}
  d = f32[16,32] divide(e, b)
  ROOT r = f32[16,32] add(d, x)
)");
  EXPECT_EQ(features[kKernels], 1);
  EXPECT_EQ(features[kRows], 16);
  EXPECT_EQ(features[kVectorFlops], 512);
  EXPECT_EQ(features[kVectorDivisions], 512);
  EXPECT_EQ(features[kVectorFunctions], 512);
  // The result, x once, and v.
  EXPECT_EQ(features[kVectorBytes], 4 * (512 + 512 + 32));
  EXPECT_EQ(features[kStridedReads], 0);
  EXPECT_EQ(features[kScalarElements], 0);
}

TEST(XlaCpuLoops, WhatTheInnerLoopDoesNotChangeIsComputedOutside) {
  const XlaCpuFeatures features = FeaturesOfLoop(R"(n = f32[32] negate(v)
  b = f32[32,16] broadcast(n), dimensions={0}
  ROOT r = f32[32,16] add(b, y)
)");
  EXPECT_EQ(features[kVectorFlops], 512 + 32);
}

TEST(XlaCpuLoops, TransposesStride) {
  const XlaCpuFeatures features = FeaturesOfLoop(R"(n = f32[32,16] negate(y)
  t = f32[16,32] transpose(n), dimensions={1,0}
  ROOT r = f32[16,32] add(t, x)
)");
  EXPECT_EQ(features[kStridedReads], 512);  // Not those of x.
  EXPECT_EQ(features[kScalarElements], 512);
  EXPECT_EQ(features[kVectorBytes], 0);
  EXPECT_EQ(features[kFarStridedReads], 0);
}

TEST(XlaCpuLoops, StridesAreFollowedThroughReshapes) {
  // Both move nothing in memory.
  EXPECT_EQ(FeaturesOfLoop(R"(a = f32[512] reshape(x)
  n = f32[512] negate(a)
  ROOT r = f32[32,16] reshape(n)
)")[kStridedReads],
            0);
  // Rows of 8 become columns.
  EXPECT_EQ(FeaturesOfLoop(R"(a = f32[16,4,8] reshape(x)
  t = f32[8,16,4] transpose(a), dimensions={2,0,1}
  ROOT r = f32[8,64] reshape(t)
)")[kStridedReads],
            512);
}

TEST(XlaCpuLoops, EachIndexIsComputedOnce) {
  // x is asked for by its own index, and by the transposed one of `t`.
  const XlaCpuFeatures features = FeaturesOfLoop(R"(n = f32[8,8] negate(small)
  t = f32[8,8] transpose(n), dimensions={1,0}
  a = f32[8,8] add(n, t)
  ROOT r = f32[8,8] multiply(a, n)
)");
  EXPECT_EQ(features[kScalarFlops], 64 * 4);
  EXPECT_EQ(features[kStridedReads], 64);
}

TEST(XlaCpuLoops, LargeTransposesMissTheCaches) {
  const XlaCpuFeatures features = FeaturesOfLoop(
      "ROOT t = f32[1024,2048] transpose(big), dimensions={1,0}\n");
  const double count = 1024 * 2048;
  EXPECT_EQ(features[kStridedReads], count);
  EXPECT_EQ(features[kFarStridedReads], count);
  EXPECT_EQ(features[kMemoryStridedReads], count);
  EXPECT_EQ(features[kColdStridedReads], count);
  EXPECT_EQ(features[kFarPageReads], count);
  EXPECT_EQ(features[kMemoryBytes], 2 * 4 * count);
}

TEST(XlaCpuLoops, ReductionsAreInnerLoops) {
  const XlaCpuFeatures features = FeaturesOfLoop(
      "ROOT s = f32[16] reduce(x, zero), dimensions={1}, to_apply=sum\n");
  EXPECT_EQ(features[kLoopReduced], 512);
  EXPECT_EQ(features[kScalarElements], 16);
  EXPECT_EQ(FeaturesOfLoop("ROOT s = f32[32] reduce(x, zero), dimensions={0}, "
                           "to_apply=sum\n")[kLoopReducedStrided],
            512);
}

TEST(XlaCpuLoops, UpdatesInPlaceTouchTheUpdateOnly) {
  const XlaCpuFeatures features = FeaturesOfLoop(R"(i = s32[] constant(0)
  ROOT u = f32[16,32] dynamic-update-slice(x, small, i, i)
)");
  EXPECT_LE(features[kVectorBytes], 4 * 64 * 2 + 8);
  EXPECT_GE(features[kVectorBytes], 4 * 64 * 2);
}

TEST(XlaCpuLoops, LongExpressionsEnd) {
  // Every level doubles the indices.
  std::string lines;
  std::string last = "small";
  for (int i = 0; i < 30; ++i) {
    absl::StrAppend(&lines, "t", i, " = f32[8,8] transpose(", last,
                    "), dimensions={1,0}\n  a", i, " = f32[8,8] add(", last,
                    ", t", i, ")\n  ");
    last = absl::StrCat("a", i);
  }
  const absl::StatusOr<hlo::Module> module = hlo::ParseHloText(absl::StrCat(
      "HloModule m\nENTRY main {\n  small = f32[8,8] parameter(0)\n  ", lines,
      "ROOT r = f32[8,8] negate(", last, ")\n}\n"));
  HONE_ASSERT_OK(module);
  EXPECT_GT(XlaCpuNs(FeaturesOf(*module)), 0);
}

}  // namespace
}  // namespace hone::costmodels
