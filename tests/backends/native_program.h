#ifndef HONE_TESTS_BACKENDS_NATIVE_PROGRAM_H_
#define HONE_TESTS_BACKENDS_NATIVE_PROGRAM_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "backends/cpu/compiler.h"
#include "hlo/ir/literal.h"
#include "loops/ir/program.h"

namespace hone::testing {

// Calls `entry` with copies of `arguments` and memory for `results`, each
// aligned to its elements only and between bytes that must not change. Results
// with an element of `initial` that is not null hold its values at first.
std::vector<hlo::Literal> CallEntry(
    backends::EntryFunction entry, absl::Span<const hlo::Literal> arguments,
    absl::Span<const hlo::ShapePtr> results,
    absl::Span<const hlo::Literal* const> initial = {});

// Runs a program as native code.
absl::StatusOr<std::vector<hlo::Literal>> RunNative(
    const loops::Program& program, absl::Span<const hlo::Literal> arguments);

// Expects RunNative to agree with the interpreter: integers exactly, floats up
// to `tolerance` relative to the larger of the value and 1, or one step of a
// 16-bit type.
void ExpectMatchesInterpreter(const loops::Program& program,
                              absl::Span<const hlo::Literal> arguments,
                              double tolerance = 1e-5);

// Arguments of normal floats and integers of 0 … 7.
std::vector<hlo::Literal> NormalArguments(const loops::Program& program);

// The same for a program as text, on NormalArguments.
void ExpectTextMatchesInterpreter(const char* text);

}  // namespace hone::testing

#endif  // HONE_TESTS_BACKENDS_NATIVE_PROGRAM_H_
