#ifndef HONE_HLO_TILES_RESHAPED_BOX_H_
#define HONE_HLO_TILES_RESHAPED_BOX_H_

#include <optional>

#include "hlo/ir/shape.h"
#include "hlo/tiles/box.h"

namespace hone::hlo {

// Returns the smallest box of an array of shape `from` that contains the
// elements of `box` of its reshape to `to`, or one somewhat larger: dimensions
// are matched in groups of equal products, and within a group the box covers
// all from the first element to the last. Nothing if the counts of elements
// differ, or, since it says nothing about where elements lie, if a layout is
// not row-major.
std::optional<Box> ReshapedBox(const Shape& to, const Box& box,
                               const Shape& from);

}  // namespace hone::hlo

#endif  // HONE_HLO_TILES_RESHAPED_BOX_H_
