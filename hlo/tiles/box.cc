#include "hlo/tiles/box.h"

#include <algorithm>
#include <cstddef>

#include "base/saturating.h"

namespace hone::hlo {

Box WholeBox(absl::Span<const int64_t> dimensions) {
  Box box;
  for (const int64_t size : dimensions) {
    box.push_back({0, std::max<int64_t>(size, 0)});
  }
  return box;
}

int64_t Volume(const Box& box) {
  // An empty dimension makes the box empty, however large the others are.
  for (const Interval& interval : box) {
    if (interval.size == 0) return 0;
  }
  int64_t volume = 1;
  for (const Interval& interval : box) {
    volume = SaturatingMultiply(volume, interval.size);
  }
  return volume;
}

Box BoundingBox(const Box& a, const Box& b) {
  if (Volume(a) == 0) return b;
  if (Volume(b) == 0) return a;
  Box box;
  for (size_t i = 0; i < a.size(); ++i) {
    const int64_t start = std::min(a[i].start, b[i].start);
    box.push_back({start, std::max(a[i].end(), b[i].end()) - start});
  }
  return box;
}

bool Contains(const Box& outer, const Box& inner) {
  if (Volume(inner) == 0) return true;
  for (size_t i = 0; i < outer.size(); ++i) {
    if (inner[i].start < outer[i].start || inner[i].end() > outer[i].end()) {
      return false;
    }
  }
  return true;
}

Interval ClippedInterval(__int128 first, __int128 last, int64_t limit) {
  if (first < 0) first = 0;
  if (last > limit - 1) last = limit - 1;
  if (last < first) return {0, 0};
  return {static_cast<int64_t>(first), static_cast<int64_t>(last - first + 1)};
}

}  // namespace hone::hlo
