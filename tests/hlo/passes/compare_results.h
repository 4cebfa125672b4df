#ifndef HONE_TESTS_HLO_PASSES_COMPARE_RESULTS_H_
#define HONE_TESTS_HLO_PASSES_COMPARE_RESULTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"

#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace hone::hlo {

// Arguments whose floats have magnitudes from 1e-38 to 1e38, alike within an
// array, and a few zeros; integers of all sizes, small ones most of the time.
std::vector<Literal> ExtremeArguments(const Module& module, uint64_t seed);

// The first element in which the results differ in a bit, up to the payload of
// NaNs and the sign of zero ("output 1[3] (f32[4]): 1 and 2"); nullopt if there
// is none.
std::optional<std::string> DifferenceInBits(const Literal& a, const Literal& b);

// Returns true if on these arguments the order in which a dot, a convolution or
// a reduction of the entry computation adds its terms may decide whether the
// sum is finite: the sum of the magnitudes of the terms overflows.
bool OverflowDependsOnOrder(const Module& module,
                            absl::Span<const Literal> arguments);

// The first element that is finite in one result and not in the other. Whether
// it is an infinity or NaN may depend on the order of a sum, and on whether
// products are rounded before they are added.
std::optional<std::string> DifferenceInNonFinite(const Literal& a,
                                                 const Literal& b);

}  // namespace hone::hlo

#endif  // HONE_TESTS_HLO_PASSES_COMPARE_RESULTS_H_
