#include "hlo/rewrite/values.h"

namespace hone::hlo {

const Literal* ConstantLiteral(const Computation& computation,
                               InstructionId id) {
  const Instruction& instruction = computation[id];
  if (!instruction.IsConstant()) return nullptr;
  const Literal* literal = instruction.literal().get();
  if (literal == nullptr || literal->is_elided() || !literal->shape().IsArray())
    return nullptr;
  return literal;
}

const Literal* UniformLiteral(const Computation& computation,
                              InstructionId id) {
  while (computation[id].opcode() == Opcode::kBroadcast ||
         computation[id].opcode() == Opcode::kReshape) {
    id = computation[id].operand(0);
  }
  const Literal* literal = ConstantLiteral(computation, id);
  return literal != nullptr && literal->num_elements() == 1 ? literal : nullptr;
}

bool IsUniform(const Computation& computation, InstructionId id, double value) {
  const Literal* literal = UniformLiteral(computation, id);
  return literal != nullptr && !IsComplex(literal->shape().element_type()) &&
         literal->AsDouble(0) == value;
}

InstructionId ScalarSource(const Computation& computation, InstructionId id) {
  const Instruction& instruction = computation[id];
  if (instruction.shape().IsScalar()) return id;
  if (instruction.opcode() == Opcode::kBroadcast &&
      computation[instruction.operand(0)].shape().IsScalar()) {
    return instruction.operand(0);
  }
  return kNoInstruction;
}

}  // namespace hone::hlo
