#ifndef HONE_LOOPS_SCHEDULES_SLIDING_WINDOWS_H_
#define HONE_LOOPS_SCHEDULES_SLIDING_WINDOWS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "loops/ir/program.h"
#include "loops/schedules/nest.h"

namespace hone::loops {

// The largest number of iterations of innermost sums to unroll.
inline constexpr int64_t kFewSums = 8;
// The rows of a tile that share what they load, at least.
inline constexpr int64_t kLeastSharedRows = 4;
// The largest window whose border is read in place, and the most products of a
// tile whose window is unrolled: conditions at the border are decided then.
inline constexpr int64_t kMostUnrolledSteps = 9;
inline constexpr int64_t kMostUnrolledProducts = 96;

// The row and the sum of a window that slides: consecutive rows of `image`
// share elements.
struct SlidingWindow {
  VarId row = 0;
  VarId sum = 0;
};

// Returns the window along the outermost of the longest `rows`, lengths from
// `enough` on counting alike; nullopt if none slides.
std::optional<SlidingWindow> FindSlidingWindow(
    const Program& program, const Access& image, const std::vector<VarId>& rows,
    const std::vector<VarId>& sums,
    const absl::flat_hash_map<VarId, int64_t>& extents, int64_t enough);

// Returns the first of the columns of `c` along which windows of its image
// overlap, with the sum of the window; nullopt if there is none, or if another
// operand moves with the result's rows. `column` is the loop of vectors.
std::optional<SlidingWindow> FindSharedRows(
    const Program& program, const Contraction& c,
    const absl::flat_hash_map<VarId, int64_t>& extents, VarId column);

// Returns true if the contraction `c` of the statement at its path is a
// depthwise convolution along channels that are contiguous, of an argument that
// it reads with conditions for a border of one element, by few steps: reading
// the image in place is then faster than copying it with a margin.
bool ShouldReadBorderInPlace(const Program& program, const Contraction& c);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_SLIDING_WINDOWS_H_
