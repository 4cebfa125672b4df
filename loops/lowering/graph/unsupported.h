#ifndef HONE_LOOPS_LOWERING_GRAPH_UNSUPPORTED_H_
#define HONE_LOOPS_LOWERING_GRAPH_UNSUPPORTED_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

#include "hlo/ir/module.h"

namespace hone::loops {

// Returns Unimplemented with the opcode and name of the instruction. `why` may
// be empty.
absl::Status Unsupported(const hlo::Instruction& instruction,
                         absl::string_view why = "");

// Returns true if kernels support elements of `type`: pred, integers of 8 to 64
// bits, f16, bf16, f32 and f64.
bool IsSupportedType(hlo::ElementType type);

// Returns Unimplemented, naming `instruction`, unless the shape is a static
// array of a supported type or a tuple of such.
absl::Status CheckShape(const hlo::Instruction& instruction,
                        const hlo::Shape& shape);

// Returns Unimplemented unless every instruction that the results of the module
// depend on has a kernel, as far as its opcode and shape show; names each
// opcode without one, and the reason, with its first instruction. Without
// `control_flow`, loops and conditionals have none either.
absl::Status CheckSupported(const hlo::Module& module, bool control_flow);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_GRAPH_UNSUPPORTED_H_
