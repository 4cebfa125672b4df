#ifndef HONE_TESTS_BACKENDS_KERNEL_NAMES_H_
#define HONE_TESTS_BACKENDS_KERNEL_NAMES_H_

#include <string>
#include <vector>

namespace hone::testing {

// The NAMEs of all NAME.hlo in `folder`, sorted; names of tests, too. Empty
// where there is no such folder.
std::vector<std::string> KernelNames(const std::string& folder);

}  // namespace hone::testing

#endif  // HONE_TESTS_BACKENDS_KERNEL_NAMES_H_
