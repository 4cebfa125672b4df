#ifndef HONE_HLO_PASSES_MOVEMENT_DIMENSION_RUN_H_
#define HONE_HLO_PASSES_MOVEMENT_DIMENSION_RUN_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "hlo/ir/shape.h"

namespace hone::hlo {

// The sizes of consecutive dimensions that become one.
using DimensionRun = DimensionVector;

// The position of a run in an array is that of its first dimension; kNoPosition
// where the array has it not.
inline constexpr int64_t kNoPosition = -1;

// `sizes` with the run at `position` merged.
DimensionVector Merged(const DimensionVector& sizes, const DimensionRun& run,
                       int64_t position);

// The index of dimension `d` after the run at `position` was merged.
int64_t MergedIndex(int64_t d, const DimensionRun& run, int64_t position);

// `dimensions`, numbers of dimensions of an array with a run at `position`,
// after the merge; the run is all among them, in order, or none of it.
DimensionVector MergedIndices(const DimensionVector& dimensions,
                              const DimensionRun& run, int64_t position);

// The dimensions, all larger than 1, that `wide` has where `narrow` has their
// product, and their position; nullopt unless that is all the difference.
std::optional<std::pair<DimensionRun, int64_t>> FindMerge(
    const DimensionVector& wide, const DimensionVector& narrow);

// The position at which `numbers` lists the run at `position` in order:
// kNoPosition if it lists none of it, nullopt if a part or in another order.
std::optional<int64_t> PositionIn(const DimensionVector& numbers,
                                  const DimensionRun& run, int64_t position);

}  // namespace hone::hlo

#endif  // HONE_HLO_PASSES_MOVEMENT_DIMENSION_RUN_H_
