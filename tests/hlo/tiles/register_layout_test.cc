#include "hlo/tiles/register_layout.h"

#include <limits>

#include "gtest/gtest.h"

namespace hone::hlo {
namespace {

Shape WithLayout(Shape shape, DimensionVector minor_to_major) {
  shape.set_layout({std::move(minor_to_major), ""});
  return shape;
}

TEST(RegisterLayout, PadsToRegisterTiles) {
  const Shape f32(ElementType::kF32, {10, 200});
  EXPECT_EQ(RegisterCount(f32, {{0, 10}, {0, 200}}, /*packed=*/true), 4);
  EXPECT_EQ(RegisterCount(f32, {{0, 8}, {128, 72}}, /*packed=*/true), 1);
  EXPECT_EQ(PaddedBytes(f32, {{0, 1}, {0, 1}}), 4096);
  const Shape transposed = WithLayout(f32, {0, 1});
  EXPECT_EQ(RegisterCount(transposed, {{0, 10}, {0, 200}}, true), 25);
}

TEST(RegisterLayout, PacksNarrowTypesInMemoryOnly) {
  const Box box = {{0, 64}, {0, 128}};
  const Shape bf16(ElementType::kBf16, {64, 128});
  EXPECT_EQ(RegisterCount(bf16, box, /*packed=*/true), 4);
  EXPECT_EQ(RegisterCount(bf16, box, /*packed=*/false), 8);
  const Shape s8(ElementType::kS8, {64, 128});
  EXPECT_EQ(RegisterCount(s8, box, /*packed=*/true), 2);
  const Shape f64(ElementType::kF64, {64, 128});
  EXPECT_EQ(RegisterCount(f64, box, /*packed=*/true), 16);
}

TEST(RegisterLayout, OneDimensionFillsWholeTiles) {
  const Shape f32(ElementType::kF32, {5000});
  EXPECT_EQ(RegisterCount(f32, {{0, 5000}}, true), 5);
  EXPECT_EQ(TileUnit(f32, 0), 1024);
  EXPECT_EQ(RegisterCount(Shape(ElementType::kF32, {}), {}, true), 1);
}

TEST(RegisterLayout, PiecesEndWhereTheBoxLeavesOutTiles) {
  const Shape f32(ElementType::kF32, {4, 64, 512});
  EXPECT_EQ(ContiguousBytes(f32, {{0, 4}, {0, 64}, {0, 512}}),
            4 * 64 * 512 * 4);
  EXPECT_EQ(ContiguousBytes(f32, {{0, 2}, {0, 64}, {0, 512}}),
            2 * 64 * 512 * 4);
  EXPECT_EQ(ContiguousBytes(f32, {{0, 4}, {0, 16}, {0, 512}}), 16 * 512 * 4);
  EXPECT_EQ(ContiguousBytes(f32, {{0, 4}, {0, 64}, {0, 256}}), 256 * 8 * 4);
  EXPECT_EQ(ContiguousBytes(f32, {{0, 0}, {0, 64}, {0, 256}}), 0);
}

TEST(RegisterLayout, ACopyHasOneStride) {
  const Shape f32(ElementType::kF32, {4, 6, 64, 512});
  EXPECT_EQ(StridedCopies(f32, {{0, 4}, {0, 6}, {0, 64}, {0, 512}}), 1);
  EXPECT_EQ(StridedCopies(f32, {{0, 4}, {0, 6}, {0, 8}, {0, 512}}), 4);
  EXPECT_EQ(StridedCopies(f32, {{0, 4}, {0, 6}, {0, 64}, {0, 128}}), 24);
  EXPECT_EQ(StridedCopies(f32, {{0, 4}, {2, 1}, {0, 64}, {0, 512}}), 1);
  EXPECT_EQ(StridedCopies(f32, {{0, 4}, {2, 1}, {0, 64}, {0, 128}}), 4);
  EXPECT_EQ(StridedCopies(f32, {{0, 1}, {2, 1}, {0, 8}, {0, 128}}), 1);
  EXPECT_EQ(StridedCopies(f32, {{0, 1}, {2, 0}, {0, 8}, {0, 128}}), 0);
}

TEST(RegisterLayout, PlanesAreOfTheTwoMinorDimensions) {
  const Shape bf16 =
      WithLayout(Shape(ElementType::kBf16, {20, 4, 200}), {2, 0, 1});
  EXPECT_EQ(PlaneRegisters(bf16, {{0, 20}, {0, 4}, {0, 200}}), 6);
  EXPECT_EQ(PlaneRegisters(Shape(ElementType::kF32, {}), {}), 1);
}

TEST(RegisterLayout, HugeShapesDoNotOverflow) {
  const int64_t size = int64_t{1} << 40;
  const Shape shape(ElementType::kF32, {size, size, 1});
  const Box box = {{0, size}, {0, size}, {0, 1}};
  EXPECT_EQ(PaddedBytes(shape, box), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(ContiguousBytes(shape, box), std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace hone::hlo
