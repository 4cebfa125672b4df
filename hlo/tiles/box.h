#ifndef HONE_HLO_TILES_BOX_H_
#define HONE_HLO_TILES_BOX_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace hone::hlo {

// The indices start … start+size-1 of one dimension. None if size is 0.
struct Interval {
  int64_t start = 0;
  int64_t size = 0;

  int64_t end() const { return start + size; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

// The elements of an array whose indices lie in an interval per dimension. That
// of a scalar has no intervals and one element.
using Box = std::vector<Interval>;

// All elements of an array.
Box WholeBox(absl::Span<const int64_t> dimensions);

// The number of elements; the largest integer if there are more.
int64_t Volume(const Box& box);

// The smallest box that contains both. Of equal rank.
Box BoundingBox(const Box& a, const Box& b);

// Returns true if each element of `inner` is one of `outer`.
bool Contains(const Box& outer, const Box& inner);

// Intersects [first, last] (none if last < first) with [0, limit). Bounds may
// lie beyond what int64_t holds.
Interval ClippedInterval(__int128 first, __int128 last, int64_t limit);

}  // namespace hone::hlo

#endif  // HONE_HLO_TILES_BOX_H_
