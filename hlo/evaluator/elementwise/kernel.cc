#include "hlo/evaluator/elementwise/elementwise.h"
#include "hlo/evaluator/types.h"

namespace hone::hlo::evaluator {

ElementwiseKernel KernelOf(Opcode opcode, ComparisonDirection direction,
                           bool total_order, ElementType operand,
                           ElementType result) {
  switch (opcode) {
    case Opcode::kCopy:
      return {CopyFn(ByteWidth(operand)), true};
    case Opcode::kBitcastConvert:
      if (BitWidth(operand) != BitWidth(result) || BitWidth(operand) < 8 ||
          (result == ElementType::kPred && operand != result)) {
        return {};
      }
      return {CopyFn(ByteWidth(operand)), true};
    case Opcode::kSelect:
      return {SelectFn(ByteWidth(operand)), true};
    case Opcode::kCompare:
      if (total_order && IsFloat(operand) && BitWidth(operand) == 8) {
        return {CompareMiniFloatsFn(direction, operand), true};
      }
      return {CompareFn(direction, total_order, ComputeType(operand))};
    case Opcode::kClamp:
      return {ClampFn(ComputeType(operand))};
    default:
      if (const ElementwiseFn fn = SubByteFn(opcode, operand)) return {fn};
      return {OpcodeArity(opcode) == 1
                  ? UnaryFn(opcode, ComputeType(operand))
                  : BinaryFn(opcode, ComputeType(operand))};
  }
}

}  // namespace hone::hlo::evaluator
