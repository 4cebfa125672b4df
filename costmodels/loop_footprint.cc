#include "costmodels/loop_footprint.h"

#include <algorithm>
#include <cmath>

#include "absl/container/inlined_vector.h"

namespace hone::costmodels {

double DistinctLines(absl::Span<const StridedLoop> loops, double element_bytes,
                     double line_bytes) {
  // Runs of bytes, of which `count` begin `stride` bytes apart.
  double run = std::max(element_bytes, 1.0);
  struct Level {
    double stride;
    double count;
  };
  absl::InlinedVector<Level, 6> levels;
  // From the first byte to the last.
  double span = run;
  for (const StridedLoop& loop : loops) {
    if (loop.stride <= 0 || loop.trips <= 1) continue;
    span += loop.stride * (loop.trips - 1);
    if (levels.empty() && loop.stride <= std::max(run, line_bytes)) {
      // Within the run, next to it, or in its last line.
      run += loop.stride * (loop.trips - 1);
    } else if (!levels.empty() &&
               loop.stride <= levels.back().stride * levels.back().count &&
               std::fmod(loop.stride, levels.back().stride) == 0) {
      levels.back().count +=
          loop.stride / levels.back().stride * (loop.trips - 1);
    } else {
      levels.push_back({loop.stride, loop.trips});
    }
  }
  double lines = std::ceil(run / line_bytes);
  for (const Level& level : levels) lines *= level.count;
  return std::min(lines, std::ceil(span / line_bytes));
}

}  // namespace hone::costmodels
