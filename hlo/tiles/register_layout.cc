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

int64_t ContiguousBytes(const Shape& shape, const Box& box) {
  if (Volume(box) == 0) return 0;
  const int64_t rows = Rows(shape.element_type(), /*packed=*/true);
  int64_t bytes = kRegisterBytes * RegistersPerElement(shape.element_type());
  // Tiles follow each other along a dimension; the run goes on to the next
  // dimension if the box has all of this one.
  for (int64_t i = 0; i < shape.rank(); ++i) {
    const int64_t d = MinorDimension(shape, i);
    const int64_t unit = shape.rank() == 1 ? rows * kLanes
                         : i == 0          ? kLanes
                         : i == 1          ? rows
                                           : 1;
    bytes = SaturatingMultiply(bytes, Units(SizeOf(box, d), unit));
    if (SizeOf(box, d) < shape.dimension(d)) break;
  }
  return bytes;
}

}  // namespace hone::hlo
