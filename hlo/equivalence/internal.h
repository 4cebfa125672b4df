#ifndef HONE_HLO_EQUIVALENCE_INTERNAL_H_
#define HONE_HLO_EQUIVALENCE_INTERNAL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "hlo/equivalence/equivalence.h"

namespace hone::hlo {

// MakeArguments; adversarial ones with infinities and NaN, or without.
absl::StatusOr<std::vector<Literal>> Arguments(const Module& module,
                                               ArgumentKind kind,
                                               bool non_finite, uint64_t seed);

// The index of the element with that number in row-major order: "[4,7]".
std::string ElementName(const Shape& shape, int64_t linear);

// Replaces the elements of a float array by their absolute values. The data
// must be the caller's own.
void MakeNonNegative(Literal& literal);

}  // namespace hone::hlo

#endif  // HONE_HLO_EQUIVALENCE_INTERNAL_H_
