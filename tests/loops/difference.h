#ifndef HONE_TESTS_LOOPS_DIFFERENCE_H_
#define HONE_TESTS_LOOPS_DIFFERENCE_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"

#include "hlo/ir/element_type.h"
#include "hlo/ir/literal.h"

namespace hone::testing {

// The tolerance for values of a type, relative to 1 plus the larger magnitude,
// when a few transformations change the rounding; 0 for integers.
double RoundingOf(hlo::ElementType type);

// The first element where two lists of results differ by more than `tolerance`
// of its type, as above; empty where none does.
std::string Difference(
    absl::Span<const hlo::Literal> expected,
    absl::Span<const hlo::Literal> actual,
    absl::FunctionRef<double(hlo::ElementType)> tolerance = RoundingOf);

}  // namespace hone::testing

#endif  // HONE_TESTS_LOOPS_DIFFERENCE_H_
