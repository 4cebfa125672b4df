#ifndef HONE_LOOPS_LOWERING_KERNEL_SCALAR_H_
#define HONE_LOOPS_LOWERING_KERNEL_SCALAR_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "hlo/ir/module.h"
#include "loops/ir/expression.h"

namespace hone::loops {

// Returns element `i` of a literal as a constant.
ExpressionPtr ConstantOf(const hlo::Literal& literal, int64_t i);

// Returns the elementwise `instruction` applied to one element of each operand.
// Errors: Unimplemented.
absl::StatusOr<ExpressionPtr> ApplyElementwise(
    const hlo::Instruction& instruction, std::vector<ExpressionPtr> operands);

// Returns the results of a scalar computation for `arguments`, one expression
// per array of its root. Returns Unimplemented if it is not scalar arithmetic.
absl::StatusOr<std::vector<ExpressionPtr>> ApplyRegion(
    const hlo::Module& module, hlo::ComputationId region,
    absl::Span<const ExpressionPtr> arguments);

// Returns the elementwise operation on operands of one type.
ExpressionPtr Apply(hlo::Opcode opcode, ExpressionPtr a, ExpressionPtr b);

// Returns a < b.
ExpressionPtr Less(ExpressionPtr a, ExpressionPtr b);

// Returns `operand` converted to `type`.
ExpressionPtr Converted(hlo::ElementType type, ExpressionPtr operand);

// Returns the unsigned integer of the width of `type`.
hlo::ElementType UnsignedOf(hlo::ElementType type);

// The identity element of `opcode`, up to the sign of zero. The opcode must be
// one that ReductionOpcode returns.
ExpressionPtr IdentityOf(hlo::Opcode opcode, hlo::ElementType type);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_KERNEL_SCALAR_H_
