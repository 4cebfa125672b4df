#ifndef HONE_LOOPS_INTERPRETER_H_
#define HONE_LOOPS_INTERPRETER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "hlo/ir/literal.h"
#include "loops/program.h"

namespace hone::loops {

struct InterpretOptions {
  // Iterations of parallel scopes run in an order drawn from this seed, to show
  // those that are not independent; 0: in order.
  uint64_t shuffle_parallel = 0;
};

// What a program computes: its results, in order, each of its buffer's shape.
// The oracle of transformations and code generators: plain and slow. Arithmetic
// is that of the HLO evaluator, floats of 16 bits rounded after each operation.
//
// Errors: InvalidArgument when arguments do not fit, when the program is not
// well formed, reads an element that has no value yet, goes out of bounds, or
// leaves an element of a result without value; the message has the path of the
// statement.
absl::StatusOr<std::vector<hlo::Literal>> Interpret(
    const Program& program, absl::Span<const hlo::Literal> arguments,
    const InterpretOptions& options = {});

}  // namespace hone::loops

#endif  // HONE_LOOPS_INTERPRETER_H_
