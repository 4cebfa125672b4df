#ifndef HONE_HLO_REWRITE_VALUES_H_
#define HONE_HLO_REWRITE_VALUES_H_

#include "hlo/ir/computation.h"

namespace hone::hlo {

// Values of instructions that are known without running anything.

// The value of a constant array; null for other instructions, for tuples and
// for constants whose value the text left out (Literal::is_elided).
const Literal* ConstantLiteral(const Computation& computation,
                               InstructionId id);

// The literal of an instruction whose elements all have one known value: a
// constant of one element, or broadcasts and reshapes of one. Element 0 of the
// result is that value. Null otherwise.
const Literal* UniformLiteral(const Computation& computation, InstructionId id);

// Returns true if `id` is uniform (UniformLiteral) with this value; -0.0 equals
// 0.0. False for complex types.
bool IsUniform(const Computation& computation, InstructionId id, double value);

// The operand of a broadcast of a scalar, or `id` itself if it is a scalar;
// kNoInstruction otherwise.
InstructionId ScalarSource(const Computation& computation, InstructionId id);

}  // namespace hone::hlo

#endif  // HONE_HLO_REWRITE_VALUES_H_
