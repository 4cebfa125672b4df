#ifndef HONE_LOOPS_OPERATION_TYPES_H_
#define HONE_LOOPS_OPERATION_TYPES_H_

#include "absl/types/span.h"

#include "hlo/ir/element_type.h"
#include "hlo/ir/opcode.h"
#include "loops/expression.h"

namespace hone::loops {

// The type of an elementwise opcode's result for operands of these types;
// kInvalid where it has no meaning for them. Not for convert and
// bitcast-convert, whose operand does not tell.
hlo::ElementType ResultType(hlo::Opcode opcode,
                            absl::Span<const hlo::ElementType> operands);

// Whether the types of an Apply and its operands go together.
bool HasMeaning(const Expression& apply);

// Whether a statement may combine values of `type` by `opcode`.
bool CanCombine(hlo::Opcode opcode, hlo::ElementType type);

}  // namespace hone::loops

#endif  // HONE_LOOPS_OPERATION_TYPES_H_
