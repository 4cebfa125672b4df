#ifndef HONE_TESTS_LOOPS_PROGRAM_TEXT_H_
#define HONE_TESTS_LOOPS_PROGRAM_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"

#include "loops/ir/program.h"

namespace hone::testing {

// The program `text`. Ends the process, saying why, where it is not valid.
loops::Program ParseText(absl::string_view text);

// The program `text`, as it is printed. Tests compare such texts, so that they
// need not be written in the canonical form. Ends the process likewise.
std::string Canonical(absl::string_view text);

}  // namespace hone::testing

#endif  // HONE_TESTS_LOOPS_PROGRAM_TEXT_H_
