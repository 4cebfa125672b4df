#include "costmodels/xla_cpu_features.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::costmodels {
namespace {

constexpr char kRegions[] = R"(HloModule m
body {
  x = f32[64,64] parameter(0)
  ROOT n = f32[64,64] negate(x)
}
twice {
  x = f32[64,64] parameter(0)
  e = f32[64,64] exponential(x)
  ROOT n = f32[64,64] negate(e)
}
always {
  x = f32[64,64] parameter(0)
  ROOT t = pred[] constant(true)
}
)";

XlaCpuFeatures FeaturesOfLine(absl::string_view line) {
  const absl::StatusOr<hlo::Module> module = hlo::ParseHloText(
      absl::StrCat(kRegions, "ENTRY main {\n  x = f32[64,64] parameter(0)\n",
                   "  c = pred[] parameter(1)\n  ROOT r = ", line, "\n}\n"));
  HONE_EXPECT_OK(module);
  return module.ok() ? FeaturesOf(*module) : XlaCpuFeatures{};
}

TEST(XlaCpuFeatures, NamesAreUnique) {
  const auto names = XlaCpuFeatureNames();
  EXPECT_EQ(names.size(), static_cast<size_t>(kXlaCpuFeatureCount));
  EXPECT_EQ(std::set<absl::string_view>(names.begin(), names.end()).size(),
            names.size());
}

TEST(XlaCpuFeatures, LoopsCountTheirTrips) {
  const XlaCpuFeatures features = FeaturesOfLine(
      "f32[64,64] while(x), condition=always, body=body, "
      "backend_config={\"known_trip_count\":{\"n\":\"7\"}}");
  EXPECT_EQ(features[kIterations], 7);
  EXPECT_EQ(features[kVectorFlops], 7 * 4096);
  EXPECT_EQ(features[kKernels], 1 + 7);
}

TEST(XlaCpuFeatures, ConditionalsTakeTheSlowestBranch) {
  const XlaCpuFeatures features = FeaturesOfLine(
      "f32[64,64] conditional(c, x, x), true_computation=body, "
      "false_computation=twice");
  EXPECT_EQ(features[kVectorFunctions], 4096);
}

TEST(XlaCpuFeatures, ProductsCountFlopsAndBytes) {
  const XlaCpuFeatures library = FeaturesOfLine(
      "f32[64,64] dot(x, x), lhs_contracting_dims={1}, "
      "rhs_contracting_dims={0}");
  EXPECT_EQ(library[kLibraryDotFlops], 2 * 64 * 64 * 64);
  EXPECT_EQ(library[kLibraryDotBytes], 3 * 4 * 4096);
  EXPECT_EQ(library[kOtherDots], 0);
  const XlaCpuFeatures other = FeaturesOfLine(
      "f32[64,64] dot(x, x), lhs_contracting_dims={0}, "
      "rhs_contracting_dims={0}");
  EXPECT_EQ(other[kOtherDotFlops], 2 * 64 * 64 * 64);
  EXPECT_EQ(other[kLibraryCalls], 0);
}

TEST(XlaCpuFeatures, FusionsCostWhatTheyCompute) {
  const XlaCpuFeatures fusion =
      FeaturesOfLine("f32[64,64] fusion(x), kind=kLoop, calls=twice");
  EXPECT_EQ(fusion[kKernels], 1);
  EXPECT_EQ(fusion[kVectorFunctions], 4096);
  EXPECT_EQ(fusion[kVectorFlops], 4096);
}

TEST(XlaCpuFeatures, MoreWorkTakesLonger) {
  XlaCpuFeatures features = FeaturesOfLine("f32[64,64] negate(x)");
  const double one = XlaCpuNs(features);
  EXPECT_GT(one, 0);
  for (double& f : features) f *= 2;
  EXPECT_DOUBLE_EQ(XlaCpuNs(features), 2 * one);
}

}  // namespace
}  // namespace hone::costmodels
