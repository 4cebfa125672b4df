#ifndef HONE_HLO_EQUIVALENCE_INTERNAL_H_
#define HONE_HLO_EQUIVALENCE_INTERNAL_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

#include "base/rng.h"
#include "hlo/equivalence/equivalence.h"

namespace hone::hlo {

// MakeArguments; adversarial ones with infinities and NaN, or without.
absl::StatusOr<std::vector<Literal>> Arguments(const Module& module,
                                               ArgumentKind kind,
                                               bool non_finite, uint64_t seed);

// Replaces the elements of a float array by their absolute values. The data
// must be the caller's own.
void MakeNonNegative(Literal& literal);

// The array with every float moved by some units in the last place, at random
// up or down; other types as they are.
Literal Perturbed(const Literal& literal, Rng& rng);

struct DetailedComparison : Comparison {
  // The largest error of every array, in the order of the flattened tuple.
  std::vector<double> array_errors;
};

// CompareLiterals with a tolerance per array where that of its type is smaller;
// infinite slack counts as none.
DetailedComparison CompareInDetail(const Literal& a, const Literal& b,
                                   absl::Span<const double> slack = {});

}  // namespace hone::hlo

#endif  // HONE_HLO_EQUIVALENCE_INTERNAL_H_
