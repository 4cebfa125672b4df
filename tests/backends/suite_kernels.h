#ifndef HONE_TESTS_BACKENDS_SUITE_KERNELS_H_
#define HONE_TESTS_BACKENDS_SUITE_KERNELS_H_

#include <string>
#include <vector>

#include "absl/types/span.h"

#include "hlo/ir/literal.h"

namespace hone::testing {

// The NAMEs of all NAME.hlo in `folder`, sorted; names of tests, too. Empty
// where there is no such folder.
std::vector<std::string> KernelNames(const std::string& folder);

bool HasNan(absl::Span<const hlo::Literal> results);
// For kernels that take the root of an argument, as Adam does.
void TakeAbsoluteValues(std::vector<hlo::Literal>& arguments);

}  // namespace hone::testing

#endif  // HONE_TESTS_BACKENDS_SUITE_KERNELS_H_
