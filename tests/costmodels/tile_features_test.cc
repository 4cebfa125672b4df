#include "costmodels/tile_features.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "hlo/text/parser.h"
#include "hlo/tiles/tile_space.h"
#include "tests/support/status_matchers.h"

namespace hone::costmodels {
namespace {

constexpr char kProduct[] = R"(HloModule product

ENTRY e {
  a = f32[512,1024] parameter(0)
  b = f32[1024,256] parameter(1)
  d = f32[512,256] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = f32[512,256] tanh(d)
})";

constexpr char kSums[] = R"(HloModule sums

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
ENTRY e {
  a = f32[1024,1000] parameter(0)
  b = f32[1000] parameter(1)
  w = f32[1024,1000] broadcast(b), dimensions={1}
  m = f32[1024,1000] multiply(a, w)
  zero = f32[] constant(0)
  ROOT r = f32[1024] reduce(m, zero), dimensions={1}, to_apply=add
})";

class Features {
 public:
  explicit Features(const std::string& text)
      : module_(*hlo::ParseHloText(text)), kernel_(module_) {}

  const hlo::TiledKernel& kernel() const { return kernel_; }
  // The magnitude that feature `name` stands for.
  double Magnitude(const std::string& config, const std::string& name,
                   double doublings) const {
    return std::exp2(Of(config, name) * doublings) - 1;
  }
  double Of(const std::string& config, const std::string& name) const {
    const auto parsed = hlo::ParseKernelConfig(config);
    HONE_EXPECT_OK(parsed.status());
    HONE_EXPECT_OK(hlo::TileSpace(kernel_).Check(*parsed));
    const auto& names = TileFeatureNames();
    const auto at = std::find(names.begin(), names.end(), name);
    EXPECT_NE(at, names.end()) << name;
    return TileFeatures(kernel_, TpuPeaks())
        .Of(*parsed)[static_cast<size_t>(at - names.begin())];
  }

 private:
  const hlo::Module module_;
  const hlo::TiledKernel kernel_;
};

TEST(TileFeatures, CountTheWorkOfAProduct) {
  const Features features(kProduct);
  const std::string config = "output=128,128 reduction=512";
  EXPECT_NEAR(features.Magnitude(config, "tiles", 28), 4 * 2 * 2, 1e-3);
  EXPECT_NEAR(features.Magnitude(config, "reduction_tiles", 16), 2, 1e-3);
  EXPECT_NEAR(features.Magnitude(config, "rows", 16), 128, 1e-2);
  EXPECT_NEAR(features.Magnitude(config, "contracted", 16), 512, 1e-2);
  // Four passes of 128 rows each in a tile.
  EXPECT_NEAR(features.Magnitude(config, "passes", 28), 4, 1e-3);
  EXPECT_NEAR(features.Magnitude(config, "array_steps", 28), 512, 1e-1);
  EXPECT_NEAR(features.Of(config, "array_fill"), 1, 1e-6);
  // 16 registers of tanh in a tile of the result; it runs once for both tiles
  // of the reduction.
  EXPECT_NEAR(features.Magnitude(config, "transcendental", 28), 16, 1e-3);
  EXPECT_NEAR(features.Magnitude(config, "all_transcendental", 40), 8 * 16,
              1e-2);
}

TEST(TileFeatures, WhatStaysIsNotTransferredAgain) {
  const Features features(kProduct);
  // A row of tiles at a time, with all of the reduction: what a reads stays
  // while the columns move.
  const double row =
      features.Magnitude("output=128,128 reduction=1024", "all_bytes_in", 40);
  EXPECT_NEAR(row / (4.0 * 512 * 1024 + 4 * 4.0 * 1024 * 256), 1, 1e-4);
  // In the other order what b reads stays.
  const double column = features.Magnitude(
      "output=128,128 reduction=1024 order=column", "all_bytes_in", 40);
  EXPECT_NEAR(column / (2 * 4.0 * 512 * 1024 + 4.0 * 1024 * 256), 1, 1e-4);
  // With a reduction in parts nothing does.
  const double parts =
      features.Magnitude("output=128,128 reduction=512", "all_bytes_in", 40);
  EXPECT_NEAR(parts / (2 * 4.0 * 512 * 1024 + 4 * 4.0 * 1024 * 256), 1, 1e-4);
  EXPECT_NEAR(
      features.Magnitude("output=128,128 reduction=512", "all_bytes_out", 40) /
          (4.0 * 512 * 256),
      1, 1e-4);
}

TEST(TileFeatures, LastTilesAreCutOff) {
  const Features features(kSums);
  EXPECT_NEAR(features.Of("output=1024 reduction=1000", "ragged"), 0, 1e-6);
  EXPECT_NEAR(features.Of("output=1024 reduction=384", "ragged"),
              std::log2(3 * 384 / 1000.0), 1e-6);
}

TEST(TileFeatures, ReductionsAlongLanesAreToldFromOthers) {
  const Features features(kSums);
  EXPECT_GT(features.Of("output=1024 reduction=1000", "lane_reductions"), 0);
  EXPECT_EQ(features.Of("output=1024 reduction=1000", "other_reductions"), 0);
}

// Which rows are read is not known, how many are.
TEST(TileFeatures, OnlyPlacesThatAreReadAreTransferred) {
  const Features features(R"(HloModule rows

ENTRY e {
  table = f32[8192,256] parameter(0)
  at = s32[512] parameter(1)
  ROOT g = f32[512,256] gather(table, at), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,256}
})");
  const double read = features.Magnitude("output=64,256", "bytes_in", 28) /
                      features.Magnitude("output=64,256", "bytes_out", 28);
  // As many rows as are written, and the indices.
  EXPECT_GT(read, 1);
  EXPECT_LT(read, 1.1);
}

TEST(TileFeatures, TablesThatStayAreTransferredOnce) {
  const Features features(R"(HloModule rows

ENTRY e {
  table = f32[512,256] parameter(0)
  at = s32[304] parameter(1)
  ROOT g = f32[304,256] gather(table, at), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,256}
})");
  for (const char* const config : {"output=304,256", "output=128,256"}) {
    EXPECT_NEAR(
        features.Magnitude(config, "all_bytes_in", 40) / (4.0 * 512 * 256), 1,
        0.03)
        << config;
  }
}

TEST(TileFeatures, GroupsAreProductsOfTheirOwn) {
  const Features features(R"(HloModule groups

ENTRY e {
  a = f32[2,16,16,512] parameter(0)
  w = f32[3,3,128,256] parameter(1)
  ROOT c = f32[2,16,16,256] convolution(a, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, feature_group_count=4
})");
  // Two groups of 64 features, nine positions.
  const std::string config = "output=1,8,16,128 reduction=128";
  EXPECT_NEAR(features.Magnitude(config, "passes", 28), 2 * 9, 1e-2);
  EXPECT_NEAR(features.Magnitude(config, "columns", 16), 64, 1e-2);
}

TEST(TileFeatures, PrecisionMultipliesSteps) {
  const Features plain(kProduct);
  const Features precise(
      absl::StrReplaceAll(kProduct, {{"rhs_contracting_dims={0}",
                                      "rhs_contracting_dims={0}, "
                                      "operand_precision={highest,highest}"}}));
  const std::string config = "output=128,128 reduction=128";
  const double steps = plain.Magnitude(config, "all_array_steps", 40);
  EXPECT_NEAR(precise.Magnitude(config, "all_array_steps", 40) / steps, 6,
              0.01);
}

TEST(TileFeatures, StagesOfSortsAreMoves) {
  const auto moves = [](int length) {
    const std::string shape = absl::StrCat("f32[1024,", length, "]");
    return Features(absl::StrCat(R"(HloModule s
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT
}
ENTRY e {
  x = )",
                                 shape, " parameter(0)\n  ROOT s = ", shape,
                                 " sort(x), dimensions={1}, to_apply=less\n}"))
        .Magnitude(absl::StrCat("output=8,", length), "all_moves", 40);
  };
  // 10 levels have 55 stages, 11 have 66.
  EXPECT_NEAR(moves(2048) / moves(1024), 2 * 66.0 / 55, 0.01);
}

TEST(TileFeatures, DepthwiseConvolutionsAreWorkOfTheVectorUnit) {
  const Features features(R"(HloModule depthwise

ENTRY e {
  p = f32[2,16,16,128] parameter(0)
  q = f32[3,3,1,128] parameter(1)
  ROOT r = f32[2,16,16,128] convolution(p, q), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, feature_group_count=128
})");
  const std::string config = "output=2,16,16,128 reduction=1";
  EXPECT_EQ(features.Of(config, "passes"), 0);
  EXPECT_NEAR(features.Magnitude(config, "simple", 28), 2 * 9 * 64, 1e-1);
}

// The first tile has only the rows that are not scaled.
TEST(TileFeatures, TilesCountByWhatTheyDo) {
  const Features features(R"(HloModule parts

ENTRY e {
  a = f32[128,512] parameter(0)
  b = f32[384,512] parameter(1)
  s = f32[384] parameter(2)
  w = f32[384,512] broadcast(s), dimensions={0}
  m = f32[384,512] multiply(b, w)
  ROOT c = f32[512,512] concatenate(a, m), dimensions={0}
})");
  // 3 tiles of 128 rows, 16 registers of rows, 64 of elements.
  EXPECT_NEAR(features.Magnitude("output=128,512", "lane_broadcasts", 40),
              3 * 16, 1e-2);
  EXPECT_NEAR(features.Magnitude("output=128,512", "simple", 28), 3 * 64 / 4.0,
              1e-2);
  EXPECT_NEAR(features.Magnitude("output=128,512", "all_bytes_in", 40) /
                  (512 * 512 * 4 + 3 * 4096),
              1, 1e-4);
}

// Which of the tiles are of one kind makes no difference.
TEST(TileFeatures, MirroredKernelsAreAlike) {
  const auto padded = [](const std::string& padding) {
    return Features(R"(HloModule padded

ENTRY e {
  a = f32[1024,512] parameter(0)
  t = f32[1024,512] exponential(a)
  zero = f32[] constant(0)
  ROOT p = f32[4096,512] pad(t, zero), padding=)" +
                    padding + "x0_0\n}");
  };
  const Features low = padded("3072_0");
  const Features high = padded("0_3072");
  for (const char* const config :
       {"output=256,512", "output=1024,128 buffers=1", "output=512,256"}) {
    for (const std::string& name : TileFeatureNames()) {
      EXPECT_NEAR(low.Of(config, name), high.Of(config, name), 1e-6)
          << config << ' ' << name;
    }
  }
  EXPECT_NEAR(low.Magnitude("output=256,512", "all_transcendental", 40), 512,
              1e-1);
}

TEST(TileFeatures, FlagsAreFeatures) {
  const Features features(kSums);
  const std::string tile = "output=1024 reduction=1000 ";
  EXPECT_EQ(features.Of(tile + "order=column", "column_order"), 1);
  EXPECT_EQ(features.Of(tile + "buffers=3", "three_buffers"), 1);
  EXPECT_EQ(features.Of(tile + "buffers=3", "two_buffers"), 0);
  EXPECT_LT(features.Of(tile + "unroll=1", "unroll"),
            features.Of(tile + "unroll=8", "unroll"));
  // What stays needs no second buffer.
  const std::string part = "output=1024 reduction=256 ";
  EXPECT_LT(features.Of(part + "buffers=1", "vector_memory"),
            features.Of(part + "buffers=2", "vector_memory"));
  EXPECT_EQ(features.Of(tile + "buffers=1", "vector_memory"),
            features.Of(tile + "buffers=2", "vector_memory"));
}

TEST(TileFeatures, KnowTheAnalyticalTimeAndWhatLimitsIt) {
  const Features features(kProduct);
  const std::string small = "output=8,128 reduction=128";
  const std::string large = "output=256,256 reduction=1024";
  for (const std::string& config : {small, large}) {
    const double ns = TpuAnalytical(features.kernel())
                          .PredictNs(*hlo::ParseKernelConfig(config));
    EXPECT_NEAR(features.Magnitude(config, "analytical_time", 44) / ns, 1,
                1e-3);
  }
  EXPECT_GT(features.Of(large, "matrix_share"),
            features.Of(small, "matrix_share"));
  EXPECT_GT(features.Of(large, "matrix_share"),
            features.Of(large, "vector_share"));
}

TEST(TileFeatures, AreFiniteAndSmallWhateverTheKernel) {
  const char* const kernels[] = {kProduct,
                                 kSums,
                                 R"(HloModule empty
ENTRY e {
  a = f32[0,7] parameter(0)
  ROOT n = f32[0,7] negate(a)
})",
                                 R"(HloModule scalar
ENTRY e {
  a = f32[] parameter(0)
  ROOT n = f32[] negate(a)
})",
                                 R"(HloModule unknown
ENTRY e {
  a = f32[24,130] parameter(0)
  ROOT n = f32[24,130] not-an-opcode(a)
})",
                                 R"(HloModule depthwise
ENTRY e {
  a = bf16[8,56,56,64] parameter(0)
  k = bf16[3,3,1,64] parameter(1)
  ROOT c = bf16[8,56,56,64] convolution(a, k), window={size=3x3 pad=1_1x1_1},
    dim_labels=b01f_01io->b01f, feature_group_count=64
})",
                                 R"(HloModule huge
ENTRY e {
  a = s8[1073741824,1073741824] parameter(0)
  ROOT n = s8[1073741824,1073741824] negate(a)
})",
                                 R"(HloModule infinite
add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT r = f32[] add(x, y)
}
ENTRY e {
  a = f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1] parameter(0)
  z = f32[] constant(0)
  ROOT w = f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1] reduce-window(a, z),
    window={size=WINDOW pad=PADDING}, to_apply=add
})",
                                 R"(HloModule pair
ENTRY e {
  a = f32[64,64] parameter(0)
  t = f32[64,64] transpose(a), dimensions={1,0}
  n = f32[64,64] negate(a)
  ROOT r = (f32[64,64], f32[64,64], f32[64,64]) tuple(t, n, a)
})"};
  Rng rng(7);
  // Of 10^360 elements.
  const std::string size = "1000000000000000000";
  const std::string padding = "0_999999999999999999";
  const std::vector<std::string> sizes(20, size), paddings(20, padding);
  for (const char* const kernel : kernels) {
    const std::string text = absl::StrReplaceAll(
        kernel, {{"WINDOW", absl::StrJoin(sizes, "x")},
                 {"PADDING", absl::StrJoin(paddings, "x")}});
    const Features features(text);
    const hlo::TileSpace space(features.kernel());
    for (int i = 0; i < 50; ++i) {
      const hlo::KernelConfig config = space.RandomConfig(rng);
      const std::vector<float> values =
          TileFeatures(features.kernel(), TpuPeaks()).Of(config);
      ASSERT_EQ(values.size(), TileFeatureNames().size());
      for (size_t f = 0; f < values.size(); ++f) {
        EXPECT_TRUE(std::isfinite(values[f]) && std::abs(values[f]) <= 4)
            << TileFeatureNames()[f] << " of " << text;
      }
      EXPECT_EQ(TileFeatures(features.kernel(), TpuPeaks()).Of(config), values);
    }
  }
}

}  // namespace
}  // namespace hone::costmodels
