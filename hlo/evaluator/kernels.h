#ifndef HONE_HLO_EVALUATOR_KERNELS_H_
#define HONE_HLO_EVALUATOR_KERNELS_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "hlo/evaluator/context.h"
#include "hlo/ir/computation.h"
#include "hlo/ir/instruction.h"
#include "hlo/ir/literal.h"

namespace hone::hlo::evaluator {

// One instruction with the values of its operands.
struct Operation {
  const Instruction& instruction;
  // Those with unique data may be overwritten and become the result.
  absl::Span<Literal> operands;
  // bitcast: the operand's shape with the layout that the module gives it. That
  // of the literal, which other instructions may have handed on, says nothing.
  ShapePtr operand_shape = nullptr;

  const Shape& shape() const { return instruction.shape(); }
  const Attributes& attributes() const { return instruction.attributes(); }
};

using Kernel = absl::StatusOr<Literal> (*)(Context& context,
                                           const Operation& operation);

// The function that evaluates an opcode; null for those without a meaning on
// one device. Elementwise opcodes are here too, one instruction at a time.
Kernel KernelFor(Opcode opcode);

// The status for something that cannot be evaluated.
absl::Status UnimplementedError(const Instruction& instruction,
                                absl::string_view why = "");

// The values converted to `type`; the literal itself if that is its type.
absl::StatusOr<Literal> Convert(Context& context, Literal literal,
                                ElementType type);

// Returns true if EvaluateLapackCall evaluates this custom call.
bool IsLapackCall(const Computation& computation,
                  const Instruction& instruction);

// One or more opcodes each, in files named after them.
absl::StatusOr<Literal> EvaluateBatchNormGrad(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateBatchNormInference(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateBatchNormTraining(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateBitcast(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateBitcastConvert(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateBroadcast(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateCall(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateCholesky(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateConcatenate(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateConditional(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateConstant(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateConvolution(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateCustomCall(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateDot(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateDynamicSlice(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateDynamicUpdateSlice(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateElementwise(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateFft(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateForward(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateGather(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateGetDimensionSize(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateGetTupleElement(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateIota(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateLapackCall(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateMap(Context&, const Operation&);
absl::StatusOr<Literal> EvaluatePad(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateReduce(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateReducePrecision(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateReduceWindow(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateReshape(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateReverse(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateRngBitGenerator(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateScatter(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateSelectAndScatter(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateSlice(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateSort(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateTopK(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateTranspose(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateTriangularSolve(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateTuple(Context&, const Operation&);
absl::StatusOr<Literal> EvaluateWhile(Context&, const Operation&);

}  // namespace hone::hlo::evaluator

#endif  // HONE_HLO_EVALUATOR_KERNELS_H_
