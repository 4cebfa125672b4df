#ifndef HONE_LOOPS_LOWERING_SCALAR_H_
#define HONE_LOOPS_LOWERING_SCALAR_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "hlo/ir/module.h"
#include "loops/expression.h"

namespace hone::loops {

// Element `i` of a literal as a constant.
ExpressionPtr ConstantOf(const hlo::Literal& literal, int64_t i);

// The elementwise `instruction` applied to one element of each operand.
// Errors: Unimplemented.
absl::StatusOr<ExpressionPtr> ApplyElementwise(
    const hlo::Instruction& instruction, std::vector<ExpressionPtr> operands);

// What a computation of scalars makes of `arguments`: one expression for each
// array of its root.
// Errors: Unimplemented for what is not scalar arithmetic.
absl::StatusOr<std::vector<ExpressionPtr>> ApplyRegion(
    const hlo::Module& module, hlo::ComputationId region,
    absl::Span<const ExpressionPtr> arguments);

ExpressionPtr Converted(hlo::ElementType type, ExpressionPtr operand);

// x for which op(x, y) = y, op being an opcode that ReductionOpcode returns.
ExpressionPtr IdentityOf(hlo::Opcode opcode, hlo::ElementType type);

// The type in which sums of elements of `type` are kept: f32 for floats of 16
// bits, else itself.
hlo::ElementType AccumulationType(hlo::ElementType type);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_SCALAR_H_
