#include "hlo/ir/instruction.h"

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

Instruction Instruction::WithOperands(
    absl::Span<const InstructionId> operands) const {
  Instruction result(opcode_, shape_, operands, attributes_);
  result.index_ = index_;
  result.called_ = called_;
  result.literal_ = literal_;
  result.metadata_ = metadata_;
  result.unknown_opcode_ = unknown_opcode_;
  return result;
}

}  // namespace hone::hlo
