#ifndef HONE_LOOPS_TEXT_TEXT_H_
#define HONE_LOOPS_TEXT_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "loops/ir/program.h"

namespace hone::loops {

// Prints a program (docs/LOOPS.md has the grammar). Variables are named by the
// depth of their loop, i0 outermost, so that programs that differ only in
// variable numbers print alike: the text is canonical, and serves as memo key.
std::string PrintProgram(const Program& program);

// Prints a program with the path of every node ("0.1.2") in front of its line,
// for users who choose where to apply transformations.
std::string PrintProgramWithPaths(const Program& program);

// Parses the text of a program, as printed by PrintProgram or written by hand:
// any variable names, any spacing, comments from # to the end of a line.
// Verifies the program (VerifyProgram).
// Errors: InvalidArgument, "LINE:COLUMN: what is wrong, what was expected".
absl::StatusOr<Program> ParseProgram(absl::string_view text);

}  // namespace hone::loops

#endif  // HONE_LOOPS_TEXT_TEXT_H_
