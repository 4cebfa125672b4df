#ifndef HONE_TESTS_HLO_PASSES_SHRINK_H_
#define HONE_TESTS_HLO_PASSES_SHRINK_H_

#include <functional>
#include <string>
#include <vector>

#include "hlo/ir/module.h"

namespace hone::hlo {

// A module and an order of passes that go wrong together.
struct FailingCase {
  Module module;
  std::vector<std::string> passes;
};

// Returns true if a case, whose module verifies, still fails in the same way.
using StillFails = std::function<bool(const FailingCase&)>;

// A smaller case for which `still_fails` holds, as it does for `failing`: with
// passes, results, instructions, parameters and computations left out, and
// instructions replaced by one of their operands or by new parameters, until no
// single step of these makes it smaller.
FailingCase Shrink(FailingCase failing, const StillFails& still_fails);

}  // namespace hone::hlo

#endif  // HONE_TESTS_HLO_PASSES_SHRINK_H_
