#ifndef HONE_LOOPS_TEXT_H_
#define HONE_LOOPS_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "loops/program.h"

namespace hone::loops {

// The textual form (docs/LOOPS.md has the grammar). Variables are named by the
// depth of their scope, i0 outermost, so that programs that differ in variable
// numbers only print alike: the text is canonical, and its hash a memo key.
std::string PrintProgram(const Program& program);

// The same with the path of every node ("0.1.2") in front of its line, for
// people who choose places of transformations.
std::string PrintProgramWithPaths(const Program& program);

// Reads what PrintProgram prints, and what a person makes of it: any names for
// variables, any spacing, comments from # to the end of a line. The program is
// verified (VerifyProgram).
// Errors: InvalidArgument, "LINE:COLUMN: what is wrong, what was expected".
absl::StatusOr<Program> ParseProgram(absl::string_view text);

}  // namespace hone::loops

#endif  // HONE_LOOPS_TEXT_H_
