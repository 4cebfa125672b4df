#ifndef HONE_LOOPS_ANALYSIS_VERIFIER_INTERNAL_H_
#define HONE_LOOPS_ANALYSIS_VERIFIER_INTERNAL_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"

#include "loops/ir/program.h"

namespace hone::loops {

// The largest magnitude of an extent, of a number in an affine expression, and
// of the value of an affine expression; far from overflow of 64 bits.
inline constexpr int64_t kMaxIndexNumber = int64_t{1} << 56;

// A defect of a program and the node that has it; an empty path stands for the
// whole program.
struct Defect {
  Path path;
  std::string what;
};

absl::Status StatusOf(const Defect& defect);

// Checks the buffers by themselves (VerifyProgram); the error has no path.
absl::Status VerifyBuffers(const Program& program);

// Finds a violation of any rule of VerifyProgram except that accesses are in
// bounds.
std::optional<Defect> FindStructureDefect(const Program& program);

// Finds an access that may be out of bounds, in a program without structure
// defects.
std::optional<Defect> FindBoundsDefect(const Program& program);

}  // namespace hone::loops

#endif  // HONE_LOOPS_ANALYSIS_VERIFIER_INTERNAL_H_
