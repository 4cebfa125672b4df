#ifndef HONE_HLO_INFERENCE_SHAPE_INFERENCE_H_
#define HONE_HLO_INFERENCE_SHAPE_INFERENCE_H_

#include "absl/status/statusor.h"

#include "hlo/ir/module.h"

namespace hone::hlo {

// The shape that `instruction` (whose operands are in `computation`) must have
// by its opcode, operands and attributes; null where these do not determine it
// (parameter, constant, rng, custom-call, unknown opcodes, collectives, …) and
// any shape is accepted. For opcodes whose shape is partly given (broadcast,
// reshape, iota, convert, …) the given parts of instruction.shape() are checked
// and kept.
// Errors: InvalidArgument when operands or attributes do not fit together; the
// message says what was found and expected, without naming the instruction.
absl::StatusOr<ShapePtr> InferShape(const Module& module,
                                    const Computation& computation,
                                    const Instruction& instruction);

}  // namespace hone::hlo

#endif  // HONE_HLO_INFERENCE_SHAPE_INFERENCE_H_
