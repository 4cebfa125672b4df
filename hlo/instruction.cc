#include "hlo/instruction.h"

namespace hone::hlo {

Instruction Instruction::Constant(Literal literal) {
  Instruction result(Opcode::kConstant, literal.shape_ptr());
  result.literal_ = std::make_shared<const Literal>(std::move(literal));
  return result;
}

Instruction Instruction::Parameter(int32_t number, ShapePtr shape) {
  Instruction result(Opcode::kParameter, std::move(shape));
  result.index_ = number;
  return result;
}

Instruction Instruction::GetTupleElement(ShapePtr shape, InstructionId operand,
                                         int32_t index) {
  Instruction result(Opcode::kGetTupleElement, std::move(shape), {operand});
  result.index_ = index;
  return result;
}

}  // namespace hone::hlo
