#ifndef HONE_LOOPS_TEXT_CANONICAL_H_
#define HONE_LOOPS_TEXT_CANONICAL_H_

#include <string>

#include "absl/status/statusor.h"

#include "loops/ir/program.h"

namespace hone::loops {

// Returns an equal program whose names and buffer numbers depend on nothing but
// its text: programs that differ in these only become the same, so that a
// script for one of them applies to all. Its text (PrintProgram) identifies the
// kernel, and parsing it gives the same program again.
// Errors: those of ParseProgram, for a program that does not verify.
absl::StatusOr<Program> CanonicalProgram(const Program& program);

// Returns the content address of a canonical program: the SHA-256 of its text.
std::string FingerprintOf(const Program& canonical);

}  // namespace hone::loops

#endif  // HONE_LOOPS_TEXT_CANONICAL_H_
