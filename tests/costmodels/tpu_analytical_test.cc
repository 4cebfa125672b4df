#include "costmodels/tpu_analytical.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "hlo/text/parser.h"
#include "hlo/tiles/tile_space.h"
#include "tests/support/status_matchers.h"

namespace hone::costmodels {
namespace {

hlo::Module Parse(const std::string& lines) {
  auto module = hlo::ParseHloText(
      absl::StrCat("HloModule m\nENTRY e {\n", lines, "\n}\n"));
  HONE_EXPECT_OK(module);
  return *std::move(module);
}

constexpr char kDot[] = R"(
  p = f32[512,1024] parameter(0)
  q = f32[1024,2048] parameter(1)
  d = f32[512,2048] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = f32[512,2048] tanh(d))";

TEST(TpuAnalytical, CountsTransfersAndArithmetic) {
  const hlo::Module module = Parse(kDot);
  const hlo::TiledKernel kernel(module);
  const TpuAnalytical model(kernel);
  const TpuTotals totals = model.TotalsOf(
      *hlo::ParseKernelConfig("output=128,256 reduction=512 order=row"));
  EXPECT_EQ(totals.tiles, 4 * 8 * 2);
  // Tiles of both operands change in every step, as terms are the inner loop.
  EXPECT_EQ(totals.bytes,
            4.0 * (8 * 512 * 1024 + 4 * 1024 * 2048 + 512 * 2048));
  EXPECT_EQ(totals.tile_bytes, 4.0 * (128 * 512 + 512 * 256 + 128 * 256));
  EXPECT_EQ(totals.vmem_bytes, 2 * totals.tile_bytes);
  // 512 rows past 8 × 16 arrays of weights.
  EXPECT_EQ(totals.matrix_cycles, 512 * 8 * 16);
  // tanh of each result once, not for each tile of terms.
  EXPECT_EQ(totals.vector_operations, 8.0 * 512 * 2048 / 1024);
  EXPECT_TRUE(totals.overlaps);
}

TEST(TpuAnalytical, DepthwiseConvolutionsRunOnTheVectorUnit) {
  const hlo::Module module = Parse(R"(
  p = f32[2,16,16,128] parameter(0)
  q = f32[3,3,1,128] parameter(1)
  ROOT r = f32[2,14,14,128] convolution(p, q), window={size=3x3}, dim_labels=b01f_01io->b01f,
    feature_group_count=128)");
  const hlo::TiledKernel kernel(module);
  const TpuTotals totals = TpuAnalytical(kernel).TotalsOf(
      *hlo::ParseKernelConfig("output=2,14,14,128 reduction=1"));
  EXPECT_EQ(totals.matrix_cycles, 0);
  // Two registers hold 14 rows.
  EXPECT_EQ(totals.vector_operations, 2 * 9 * (2 * 14 * 2));
}

TEST(TpuAnalytical, TablesThatStayAreTransferredOnce) {
  const auto bytes = [](int64_t rows) {
    const hlo::Module module = Parse(absl::StrCat("  table = f32[", rows,
                                                  R"(,256] parameter(0)
  at = s32[1024] parameter(1)
  ROOT g = f32[1024,256] gather(table, at), offset_dims={1}, collapsed_slice_dims={0},
    start_index_map={0}, index_vector_dim=1, slice_sizes={1,256})"));
    const hlo::TiledKernel kernel(module);
    return TpuAnalytical(kernel)
        .TotalsOf(*hlo::ParseKernelConfig("output=128,256"))
        .bytes;
  };
  const double result = 4.0 * 1024 * 256;
  EXPECT_NEAR(bytes(512), 4.0 * 512 * 256 + result, 0.05 * result);
  // Of a table that does not stay, the rows that are read.
  EXPECT_NEAR(bytes(65536), 2 * result, 0.05 * result);
}

// The first tiles need nothing of the second operand.
TEST(TpuAnalytical, OperandsThatOnlySomeTilesNeedAreTransferredForThose) {
  const hlo::Module module = Parse(R"(
  a = f32[128,512] parameter(0)
  b = f32[384,512] parameter(1)
  ROOT c = f32[512,512] concatenate(a, b), dimensions={0})");
  const hlo::TiledKernel kernel(module);
  EXPECT_EQ(TpuAnalytical(kernel)
                .TotalsOf(*hlo::ParseKernelConfig("output=64,512"))
                .bytes,
            2.0 * 4 * 512 * 512);
}

TEST(TpuAnalytical, PaddingCosts) {
  const auto cycles = [](int64_t columns) {
    const hlo::Module module =
        Parse(absl::StrCat("  p = f32[64,", columns, "] parameter(0)\n",
                           "  ROOT t = f32[64,", columns, "] negate(p)"));
    const hlo::TiledKernel kernel(module);
    hlo::KernelConfig config;
    config.tile.output = {64, columns};
    return TpuAnalytical(kernel).TotalsOf(config).bytes;
  };
  EXPECT_EQ(cycles(129), cycles(256));
  EXPECT_EQ(cycles(1), cycles(128));
}

TEST(TpuAnalytical, TheTimeIsTheLargerOfTransferAndComputation) {
  const hlo::Module module = Parse(kDot);
  const hlo::TiledKernel kernel(module);
  const TpuPeaks peaks = {1e9, 1e12, 1 << 24, 1, 1};
  const TpuConstants constants = {1, 1, 1, /*launch_cycles=*/100,
                                  /*tile_cycles=*/10};
  const TpuAnalytical model(kernel, peaks, constants);
  TpuTotals totals;
  totals.tiles = 5;
  totals.bytes = 1000 * 1000;
  totals.tile_bytes = 1000 * 10;
  totals.matrix_cycles = 400;
  totals.vector_operations = 700;
  totals.overlaps = true;
  EXPECT_DOUBLE_EQ(model.PredictNs(totals), 100 + 1000 + 10 + 50);
  totals.matrix_cycles = 3000;
  EXPECT_DOUBLE_EQ(model.PredictNs(totals), 100 + 3000 + 10 + 50);
  totals.overlaps = false;
  EXPECT_DOUBLE_EQ(model.PredictNs(totals), 100 + 1000 + 3000 + 50);
}

TEST(TpuAnalytical, KernelsWithoutATileHaveATime) {
  for (const char* const lines :
       {"  ROOT p = f32[] parameter(0)", "  ROOT p = f32[0,8] parameter(0)",
        "  ROOT t = token[] after-all()",
        "  p = f32[8,128] parameter(0)\n  ROOT r = f32[8,128] swizzle(p)"}) {
    const hlo::Module module = Parse(lines);
    const hlo::TiledKernel kernel(module);
    hlo::KernelConfig config;
    config.tile = hlo::TileSpace(kernel).TileAt(0);
    EXPECT_GT(TpuAnalytical(kernel).PredictNs(config), 0);
  }
}

}  // namespace
}  // namespace hone::costmodels
