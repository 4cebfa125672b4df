#ifndef HONE_TESTS_LOOPS_TRANSFORMS_APPLY_STEP_H_
#define HONE_TESTS_LOOPS_TRANSFORMS_APPLY_STEP_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "loops/transforms/machine.h"

namespace hone::testing {

// The program `text` after one step ("split 0 16"), printed; or "refused: why",
// or "malformed: why" for a result that does not verify. Ends the process where
// `text` is not a valid program.
std::string After(absl::string_view text, absl::string_view step);

// The steps that the transformation `name` proposes for the program `text`.
std::vector<std::string> Moves(absl::string_view text, absl::string_view name,
                               const loops::Machine& machine = {});

}  // namespace hone::testing

#endif  // HONE_TESTS_LOOPS_TRANSFORMS_APPLY_STEP_H_
