#ifndef HONE_LOOPS_IR_OPERATION_TYPES_H_
#define HONE_LOOPS_IR_OPERATION_TYPES_H_

#include "absl/types/span.h"

#include "hlo/ir/element_type.h"
#include "hlo/ir/opcode.h"
#include "loops/ir/expression.h"

namespace hone::loops {

// The result type of an elementwise opcode for operands of these types;
// kInvalid if the opcode is not defined for them. Not for convert and
// bitcast-convert, whose result type does not follow from the operand.
hlo::ElementType ResultType(hlo::Opcode opcode,
                            absl::Span<const hlo::ElementType> operands);

// Returns true if the operation of a kApply expression is defined on the types
// of its operands and gives the type of the expression.
bool IsWellTyped(const Expression& apply);

// Returns true if a statement may combine values of `type` by `opcode`.
bool CanCombine(hlo::Opcode opcode, hlo::ElementType type);

// Returns true if an element of `type` takes a chain of instructions: a
// polynomial, or a maximum of floats, for NaN and zeros.
bool IsSlowOperation(hlo::Opcode opcode, hlo::ElementType type);

}  // namespace hone::loops

#endif  // HONE_LOOPS_IR_OPERATION_TYPES_H_
