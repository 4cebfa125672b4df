#ifndef HONE_HLO_REWRITE_DIMENSIONS_H_
#define HONE_HLO_REWRITE_DIMENSIONS_H_

#include <cstdint>
#include <optional>

#include "absl/types/span.h"

#include "hlo/ir/shape.h"

namespace hone::hlo {

// Lists of dimension numbers and of sizes.

// 0, 1, …, size-1.
DimensionVector IdentityPermutation(int64_t size);
bool IsIdentityPermutation(absl::Span<const int64_t> permutation);
DimensionVector InversePermutation(absl::Span<const int64_t> permutation);

// The dimensions of an array of sizes `to` that hold the dimensions `ids` of
// the array of sizes `from` that it is a reshape of, with the same size and
// stride; nullopt when the reshape splits or merges one of them. Of size-1
// dimensions, which could be anywhere among their neighbors, order decides; ids
// must be ascending.
std::optional<DimensionVector> UnmodifiedDimensions(
    absl::Span<const int64_t> from, absl::Span<const int64_t> to,
    absl::Span<const int64_t> ids);

// Returns true if a reshape between these only inserts or deletes dimensions of
// size 1.
bool OnlyDegenerateDimensionsDiffer(absl::Span<const int64_t> a,
                                    absl::Span<const int64_t> b);

// Returns true if `dimension` is one of `dimensions`.
bool Contains(absl::Span<const int64_t> dimensions, int64_t dimension);

// Those of 0, 1, …, rank-1 that are not in `dimensions`, ascending.
DimensionVector OtherDimensions(absl::Span<const int64_t> dimensions,
                                int64_t rank);

// `dimensions` without those at the given positions.
DimensionVector WithoutDimensions(absl::Span<const int64_t> dimensions,
                                  absl::Span<const int64_t> positions);

}  // namespace hone::hlo

#endif  // HONE_HLO_REWRITE_DIMENSIONS_H_
