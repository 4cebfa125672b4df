#include "hlo/tiles/register_layout.h"

#include <algorithm>
#include <cstddef>

#include "base/division.h"
#include "base/saturating.h"

namespace hone::hlo {
namespace {

// Dimension number i in the order of the layout, the minor one first.
int64_t MinorDimension(const Shape& shape, int64_t i) {
  if (shape.layout() == nullptr) return shape.rank() - 1 - i;
  return shape.layout()->minor_to_major[static_cast<size_t>(i)];
}

int64_t SizeOf(const Box& box, int64_t d) {
  return box[static_cast<size_t>(d)].size;
}

// The number of units of `unit` that cover `size`, at least one.
int64_t Units(int64_t size, int64_t unit) {
  return std::max<int64_t>(1, CeilDivide(size, unit));
}

int64_t Rows(ElementType type, bool packed) {
  return packed ? kSublanes * PackingOf(type) : kSublanes;
}

}  // namespace

RegisterDimensions RegisterDimensionsOf(const Shape& shape) {
  RegisterDimensions dimensions;
  if (shape.rank() > 0) dimensions.lane = MinorDimension(shape, 0);
  if (shape.rank() > 1) dimensions.sublane = MinorDimension(shape, 1);
  return dimensions;
}

int64_t PackingOf(ElementType type) {
  const int bits = BitWidth(type);
  if (bits <= 8) return 4;
  return bits <= 16 ? 2 : 1;
}

int64_t RegistersPerElement(ElementType type) {
  return std::max(1, BitWidth(type) / 32);
}

int64_t TileUnit(const Shape& shape, int64_t d) {
  const RegisterDimensions dimensions = RegisterDimensionsOf(shape);
  const int64_t rows = Rows(shape.element_type(), /*packed=*/true);
  if (d == dimensions.lane) return shape.rank() == 1 ? rows * kLanes : kLanes;
  return d == dimensions.sublane ? rows : 1;
}

int64_t RegisterCount(const Shape& shape, const Box& box, bool packed) {
  if (Volume(box) == 0) return 0;
  const ElementType type = shape.element_type();
  const int64_t rows = Rows(type, packed);
  int64_t count = RegistersPerElement(type);
  if (shape.rank() == 1) {
    return SaturatingMultiply(count, Units(box[0].size, rows * kLanes));
  }
  const RegisterDimensions dimensions = RegisterDimensionsOf(shape);
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const int64_t unit = d == dimensions.lane      ? kLanes
                         : d == dimensions.sublane ? rows
                                                   : 1;
    count = SaturatingMultiply(count, Units(SizeOf(box, d), unit));
  }
  return count;
}

int64_t PaddedBytes(const Shape& shape, const Box& box) {
  return SaturatingMultiply(RegisterCount(shape, box, /*packed=*/true),
                            kRegisterBytes);
}

int64_t PlaneRegisters(const Shape& shape, const Box& box) {
  Box plane = box;
  const RegisterDimensions dimensions = RegisterDimensionsOf(shape);
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (d == dimensions.lane || d == dimensions.sublane) continue;
    Interval& interval = plane[static_cast<size_t>(d)];
    interval.size = std::min<int64_t>(interval.size, 1);
  }
  return RegisterCount(shape, plane, /*packed=*/false);
}

namespace {

// Register tiles along dimension number `i` in the order of the layout.
int64_t TilesAlong(const Shape& shape, const Box& box, int64_t i) {
  const int64_t rows = Rows(shape.element_type(), /*packed=*/true);
  const int64_t unit = shape.rank() == 1 ? rows * kLanes
                       : i == 0          ? kLanes
                       : i == 1          ? rows
                                         : 1;
  return Units(SizeOf(box, MinorDimension(shape, i)), unit);
}

// The number of dimensions, from the minor one, along which a box's register
// tiles follow each other: all but the last of them it has whole.
int64_t ContiguousDimensions(const Shape& shape, const Box& box) {
  for (int64_t i = 0; i < shape.rank(); ++i) {
    const int64_t d = MinorDimension(shape, i);
    if (SizeOf(box, d) < shape.dimension(d)) return i + 1;
  }
  return shape.rank();
}

}  // namespace

int64_t ContiguousBytes(const Shape& shape, const Box& box) {
  if (Volume(box) == 0) return 0;
  int64_t bytes = kRegisterBytes * RegistersPerElement(shape.element_type());
  const int64_t count = ContiguousDimensions(shape, box);
  for (int64_t i = 0; i < count; ++i) {
    bytes = SaturatingMultiply(bytes, TilesAlong(shape, box, i));
  }
  return bytes;
}

int64_t StridedCopies(const Shape& shape, const Box& box) {
  if (Volume(box) == 0) return 0;
  int64_t copies = 1;
  bool has_stride = false;
  for (int64_t i = ContiguousDimensions(shape, box); i < shape.rank(); ++i) {
    const int64_t tiles = TilesAlong(shape, box, i);
    if (tiles > 1 && !has_stride) {
      has_stride = true;
    } else {
      copies = SaturatingMultiply(copies, tiles);
    }
  }
  return copies;
}

}  // namespace hone::hlo
