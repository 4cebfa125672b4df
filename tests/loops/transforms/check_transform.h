#ifndef HONE_TESTS_LOOPS_TRANSFORMS_CHECK_TRANSFORM_H_
#define HONE_TESTS_LOOPS_TRANSFORMS_CHECK_TRANSFORM_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

#include "loops/ir/program.h"
#include "loops/transforms/machine.h"

namespace hone::testing {

// Ok where `after` verifies and computes what `before` does: bit for bit where
// `exact`, up to the rounding of reassociated sums otherwise.
absl::Status CheckSame(const loops::Program& before,
                       const loops::Program& after, bool exact, uint64_t seed);

// The program `text` after `script`, which must keep what it computes, printed;
// or what is wrong.
std::string AfterChecked(absl::string_view text, absl::string_view script,
                         bool exact = true);

// Checks that every step that the transformation lists for `program` is
// accepted and preserves what the program computes; the error names a step that
// does not. Adds the number of steps to `*steps`.
absl::Status CheckSteps(const loops::Program& program,
                        absl::string_view transform,
                        const loops::Machine& machine, uint64_t seed,
                        int* steps);

// A machine small enough that blocks of small examples may pay.
loops::Machine SmallMachine();

}  // namespace hone::testing

#endif  // HONE_TESTS_LOOPS_TRANSFORMS_CHECK_TRANSFORM_H_
