#ifndef HONE_LOOPS_INTERPRETER_INTERPRETER_H_
#define HONE_LOOPS_INTERPRETER_INTERPRETER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "hlo/ir/literal.h"
#include "loops/ir/program.h"

namespace hone::loops {

struct InterpretOptions {
  // Runs the iterations of parallel loops, and the lanes of each statement of
  // vector loops, in an order drawn from this seed, to reveal dependences
  // between them; 0: iterations in order.
  uint64_t shuffle_parallel = 0;
};

// Evaluates a program and returns its results and in-out arrays in order, each
// of the shape of its buffer. `arguments` are those of the program, then the
// values that its in-out arrays have at first, in the order of their numbers.
// The reference for transformations and code generators: simple and slow.
// Arithmetic is that of the HLO evaluator; 16-bit floats are rounded after each
// operation.
//
// Returns InvalidArgument if arguments do not match, or if the program is not
// well formed, reads an uninitialized element, accesses out of bounds, leaves
// an element of a result unwritten, or has a data race: an iteration of a
// parallel loop writes an element that another one accesses. The message has
// the path of the statement.
absl::StatusOr<std::vector<hlo::Literal>> Interpret(
    const Program& program, absl::Span<const hlo::Literal> arguments,
    const InterpretOptions& options = {});

}  // namespace hone::loops

#endif  // HONE_LOOPS_INTERPRETER_INTERPRETER_H_
