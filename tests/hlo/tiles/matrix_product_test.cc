#include "hlo/tiles/matrix_product.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "hlo/text/parser.h"
#include "hlo/tiles/tile_regions.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

// The products of the root for the tile of a configuration at a position, by
// default the first.
MatrixProduct ProductOf(const std::string& lines, const std::string& config,
                        std::vector<int64_t> position = {}) {
  const auto module =
      ParseHloText("HloModule m\n\nENTRY e {\n" + lines + "}\n");
  HONE_EXPECT_OK(module.status());
  const auto parsed = ParseKernelConfig(config);
  HONE_EXPECT_OK(parsed.status());
  const TiledKernel kernel(*module);
  const TileRegions regions(kernel, parsed->tile);
  position.resize(regions.grid().size());
  const IdMap<Region> tile = regions.At(position);
  const Instruction& root = kernel.computation()[kernel.computation().root()];
  return root.opcode() == Opcode::kDot
             ? MatrixProductOfDot(kernel.computation(), root, tile)
             : MatrixProductOfConvolution(kernel.computation(), root, tile);
}

TEST(MatrixProduct, ADotIsOneProductForEachIndexOfTheBatch) {
  const MatrixProduct product = ProductOf(R"(
  a = f32[6,4,64,512] parameter(0)
  b = f32[6,512,256] parameter(1)
  ROOT d = f32[6,4,64,256] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={3}, rhs_contracting_dims={1}
)",
                                          "output=3,2,16,128 reduction=256");
  EXPECT_EQ(product.products, 3);
  EXPECT_EQ(product.m, 2 * 16);
  EXPECT_EQ(product.k, 256);
  EXPECT_EQ(product.n, 128);
  EXPECT_EQ(product.terms, 1);
}

std::string Convolution(int features, int groups) {
  const std::string all = std::to_string(features);
  return "  a = f32[2,16,16," + all + "] parameter(0)\n  w = f32[3,3," +
         std::to_string(features / groups) + ",256] parameter(1)\n" +
         "  ROOT c = f32[2,16,16,256] convolution(a, w), window={size=3x3 "
         "pad=1_1x1_1}, dim_labels=b01f_01io->b01f, feature_group_count=" +
         std::to_string(groups) + "\n";
}

TEST(MatrixProduct, AConvolutionIsOneForEachPosition) {
  const MatrixProduct wide =
      ProductOf(Convolution(256, 1), "output=1,4,16,128 reduction=128");
  EXPECT_EQ(wide.products, 1);
  EXPECT_EQ(wide.m, 4 * 16);
  EXPECT_EQ(wide.k, 128);
  EXPECT_EQ(wide.n, 128);
  EXPECT_EQ(wide.terms, 9);
  EXPECT_EQ(wide.positions, 1);
  // Rows of the window become terms: three positions fit, then two of three.
  const MatrixProduct narrow =
      ProductOf(Convolution(32, 1), "output=1,4,16,256 reduction=32");
  EXPECT_EQ(narrow.k, 3 * 32);
  EXPECT_EQ(narrow.terms, 3);
  EXPECT_EQ(narrow.positions, 3);
  const MatrixProduct medium =
      ProductOf(Convolution(64, 1), "output=1,4,16,256 reduction=64");
  EXPECT_EQ(medium.k, 2 * 64);
  EXPECT_EQ(medium.terms, 6);
}

TEST(MatrixProduct, GroupsAreProductsOfTheirOwn) {
  const MatrixProduct product =
      ProductOf(Convolution(512, 4), "output=1,4,16,128 reduction=128");
  EXPECT_EQ(product.products, 2);
  EXPECT_EQ(product.n, 64);
}

// Two groups of 192 features in tiles of 128: the middle one has half of each.
TEST(MatrixProduct, GroupsThatATileHasAPartOfCount) {
  const std::string lines = R"(
  a = f32[2,16,16,384] parameter(0)
  w = f32[1,1,192,384] parameter(1)
  ROOT c = f32[2,16,16,384] convolution(a, w), window={size=1x1}, dim_labels=b01f_01io->b01f, feature_group_count=2
)";
  const std::string config = "output=1,16,16,128 reduction=192";
  EXPECT_EQ(ProductOf(lines, config).products, 1);
  EXPECT_EQ(ProductOf(lines, config).n, 128);
  const MatrixProduct middle = ProductOf(lines, config, {0, 0, 0, 1, 0});
  EXPECT_EQ(middle.products, 2);
  EXPECT_EQ(middle.n, 64);
}

TEST(MatrixProduct, GroupsOfTheBatchAreProductsOfTheirOwn) {
  const MatrixProduct product = ProductOf(R"(
  a = f32[64,16,16,8] parameter(0)
  w = f32[1,1,8,128] parameter(1)
  ROOT c = f32[2,16,16,128] convolution(a, w), window={size=1x1}, dim_labels=b01f_01io->b01f, batch_group_count=32
)",
                                          "output=2,16,16,128 reduction=8");
  EXPECT_EQ(product.products, 32);
  EXPECT_EQ(product.m, 2 * 16 * 16);
  EXPECT_EQ(product.n, 4);
}

TEST(MatrixProduct, PrecisionTakesPasses) {
  const auto passes = [](const std::string& type, const std::string& more) {
    const std::string shape = type + "[128,128]";
    return ProductOf("  a = " + shape + " parameter(0)\n  b = " + shape +
                         " parameter(1)\n  ROOT d = " + shape +
                         " dot(a, b), lhs_contracting_dims={1}, "
                         "rhs_contracting_dims={0}" +
                         more + "\n",
                     "output=128,128 reduction=128")
        .passes;
  };
  EXPECT_EQ(passes("bf16", ""), 1);
  EXPECT_EQ(passes("f32", ""), 1);
  EXPECT_EQ(passes("f32", ", operand_precision={high,high}"), 3);
  EXPECT_EQ(passes("f32", ", operand_precision={highest,highest}"), 6);
  EXPECT_EQ(passes("f64", ""), 24);
}

TEST(MatrixProduct, DepthwiseConvolutionsHaveOneInputFeaturePerGroup) {
  const auto is_depthwise = [](int features, int groups) {
    const auto module = ParseHloText("HloModule m\n\nENTRY e {\n" +
                                     Convolution(features, groups) + "}\n");
    HONE_EXPECT_OK(module.status());
    const Computation& entry = module->entry_computation();
    return IsDepthwise(entry, entry[entry.root()]);
  };
  EXPECT_TRUE(is_depthwise(256, 256));
  EXPECT_FALSE(is_depthwise(256, 128));
  EXPECT_FALSE(is_depthwise(1, 1));
}

}  // namespace
}  // namespace hone::hlo
