#ifndef HONE_LOOPS_VERIFIER_INTERNAL_H_
#define HONE_LOOPS_VERIFIER_INTERNAL_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"

#include "loops/program.h"

namespace hone::loops {

// The largest magnitude of an extent, of a number in an affine expression, and
// of an affine expression's value: far from where 64 bits overflow.
inline constexpr int64_t kMaxIndexNumber = int64_t{1} << 56;

// What is wrong with a program, and at which node; an empty path is the program
// as a whole.
struct Problem {
  Path path;
  std::string what;
};

absl::Status StatusOf(const Problem& problem);

// "0.1.2"; "-" for the root.
std::string PathText(const Path& path);

// What VerifyProgram promises of buffers by themselves; the error has no path.
absl::Status VerifyBuffers(const Program& program);

// Everything that VerifyProgram promises, but that accesses are in bounds.
std::optional<Problem> FindStructureProblem(const Program& program);

// An access that may be out of bounds, in a program without structure problem.
std::optional<Problem> FindBoundsProblem(const Program& program);

}  // namespace hone::loops

#endif  // HONE_LOOPS_VERIFIER_INTERNAL_H_
