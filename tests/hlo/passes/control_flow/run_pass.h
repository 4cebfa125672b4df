#ifndef HONE_TESTS_HLO_PASSES_CONTROL_FLOW_RUN_PASS_H_
#define HONE_TESTS_HLO_PASSES_CONTROL_FLOW_RUN_PASS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace hone::hlo {

// Runs the pass with a verifier after each rewrite and returns the text of the
// result, which has to read back, verify and compute the same. The pass has to
// tell the truth about having changed something.
std::string RunPass(absl::string_view pass_name, absl::string_view text);

// Likewise for modules that may run for ever: does not compute anything.
std::string RunPassOnly(absl::string_view pass_name, absl::string_view text);

}  // namespace hone::hlo

#endif  // HONE_TESTS_HLO_PASSES_CONTROL_FLOW_RUN_PASS_H_
