#ifndef HONE_HLO_TILES_REGISTER_LAYOUT_H_
#define HONE_HLO_TILES_REGISTER_LAYOUT_H_

#include <cstdint>

#include "hlo/ir/shape.h"
#include "hlo/tiles/box.h"

namespace hone::hlo {

// How arrays lie in the vector memory and registers of a TPU: in register tiles
// of 8 sublanes × 128 lanes of 32 bits. The minor dimension of the layout runs
// along lanes, the next one along sublanes. Narrower types are packed along
// sublanes, so that a tile of bf16 has 16 rows and one of s8 has 32; wider ones
// take several registers per tile. Arrays of one dimension fill whole tiles.
// In HBM the tiles follow each other in the order of the layout.
inline constexpr int64_t kLanes = 128;
inline constexpr int64_t kSublanes = 8;
inline constexpr int64_t kRegisterBytes = kLanes * kSublanes * 4;

// The dimension along lanes and that along sublanes; -1 where there is none.
struct RegisterDimensions {
  int64_t lane = -1;
  int64_t sublane = -1;
};
RegisterDimensions RegisterDimensionsOf(const Shape& shape);

// The elements of a type that share 32 bits: 4 of s8, 2 of bf16, 1 of f32 and
// everything wider. Sub-byte types are kept as bytes.
int64_t PackingOf(ElementType type);
// The registers of 32-bit lanes that one element of each lane takes: 1, 2 for
// 64 bits, 4 for c128.
int64_t RegistersPerElement(ElementType type);

// The size of which the tile of dimension `d` has to be a multiple, unless it
// is the whole dimension: that of the register tile, 1 for other dimensions.
int64_t TileUnit(const Shape& shape, int64_t d);

// The register tiles that a box of an array touches, if it starts at one.
// `packed`: as in memory; else unpacked to 32 bits or more per element, as
// computations have it.
int64_t RegisterCount(const Shape& shape, const Box& box, bool packed);
// The bytes of a box in vector memory, padded to whole register tiles.
int64_t PaddedBytes(const Shape& shape, const Box& box);

// The bytes of a box that follow each other in HBM: the length of the pieces
// that a copy of the box consists of. 0 for an empty box.
int64_t ContiguousBytes(const Shape& shape, const Box& box);
// The copies with one stride (pieces of equal length at equal distances) that
// make a copy of the box: 1 if all pieces lie along one dimension. 0 for an
// empty box.
int64_t StridedCopies(const Shape& shape, const Box& box);

// The registers, unpacked, of the two minor dimensions of a box: what a loop
// over registers runs over, inside of loops over the other dimensions.
int64_t PlaneRegisters(const Shape& shape, const Box& box);

}  // namespace hone::hlo

#endif  // HONE_HLO_TILES_REGISTER_LAYOUT_H_
