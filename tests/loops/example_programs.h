#ifndef HONE_TESTS_LOOPS_EXAMPLE_PROGRAMS_H_
#define HONE_TESTS_LOOPS_EXAMPLE_PROGRAMS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "loops/ir/program.h"

namespace hone::testing {

// A kernel as a person would write it first, every loop sequential, on small
// odd shapes; and the HLO module that computes the same from the same
// arguments (its root is a tuple where the kernel has several results).
struct ExampleProgram {
  absl::string_view name;
  absl::string_view text;
  absl::string_view hlo;
};

// matmul, softmax, layer_norm, conv2d (padded), transpose, row_sum, column_sum,
// argmax, attention, gather.
absl::Span<const ExampleProgram> ExamplePrograms();

// The one of that name, parsed; the name must be one of the above.
loops::Program ParseExample(absl::string_view name);

}  // namespace hone::testing

#endif  // HONE_TESTS_LOOPS_EXAMPLE_PROGRAMS_H_
