#include <algorithm>
#include <cmath>

#include "hlo/passes/algsimp/rules.h"

namespace hone::hlo::algsimp {

bool MayRound(const Rewriter& r, InstructionId id) {
  const ElementType type = r.shape(id).element_type();
  if (!IsFloat(type) && !IsComplex(type)) return true;
  return BitWidth(type) >= 16 && r.Permits(NumericClass::kReassociates);
}

bool MayAbsorb(const Rewriter& r, InstructionId inner, InstructionId user) {
  const auto& others = r[inner].attributes().others;
  return r.DiesWith(inner, user) &&
         std::all_of(others.begin(), others.end(), [](const auto& attribute) {
           return attribute.first == "origin";
         });
}

InstructionId NegatedOperand(const Rewriter& r, InstructionId id,
                             InstructionId user) {
  InstructionId x;
  const auto is_signed = [&](InstructionId i) {
    return r.shape(i).element_type() != ElementType::kF8e8m0fnu;
  };
  return is_signed(id) && is_signed(user) && MayAbsorb(r, id, user) &&
                 r.Match(id, m::Negate(m::Op(&x)))
             ? x
             : kNoInstruction;
}

bool IsIdentityElement(const Rewriter& r, InstructionId id,
                       std::optional<Opcode> reduction) {
  const Literal* literal;
  return reduction.has_value() && r.Match(id, m::Uniform(&literal)) &&
         IsReductionIdentity(*reduction, *literal);
}

bool IsNonNegative(const Rewriter& r, InstructionId id, int depth) {
  const Instruction& instruction = r[id];
  const ElementType type = instruction.shape().element_type();
  if (IsUnsigned(type)) return true;
  if (depth == 0 || !(IsSigned(type) || IsFloat(type))) return false;
  const InstructionIds& operands = instruction.operands();
  const auto is_non_negative = [&](InstructionId operand) {
    return IsNonNegative(r, operand, depth - 1);
  };
  switch (instruction.opcode()) {
    case Opcode::kIota:
      // It wraps where it does not fit, or is NaN.
      return BitWidth(type) >= (IsFloat(type) ? 16 : 32) &&
             instruction.shape().dimension(instruction.dimensions()[0]) <=
                 int64_t{1} << 31;
    case Opcode::kConstant: {
      const Literal* literal = UniformLiteral(r.computation(), id);
      // |-0| is not -0.
      return literal != nullptr && literal->AsDouble(0) >= 0 &&
             !std::signbit(literal->AsDouble(0));
    }
    case Opcode::kBroadcast:
    case Opcode::kConcatenate:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return std::all_of(operands.begin(), operands.end(), is_non_negative);
    case Opcode::kDynamicSlice:
      return is_non_negative(operands[0]);
    case Opcode::kSelect:
      return is_non_negative(operands[1]) && is_non_negative(operands[2]);
    // Not abs, as the smallest signed integer has no positive, and not divide,
    // as n / 0 is -1. Of floats a NaN would come through.
    case Opcode::kMinimum:
      return IsSigned(type) && is_non_negative(operands[0]) &&
             is_non_negative(operands[1]);
    case Opcode::kRemainder:
      return IsSigned(type) && is_non_negative(operands[0]);
    case Opcode::kAnd:
    case Opcode::kMaximum:
      return IsSigned(type) &&
             (is_non_negative(operands[0]) || is_non_negative(operands[1]));
    case Opcode::kClamp:
      // min(max(x, low), high)
      return IsSigned(type) && is_non_negative(operands[0]) &&
             is_non_negative(operands[2]);
    case Opcode::kConvert: {
      // Widening keeps the value; narrowing may set the sign.
      const ElementType from = r.shape(operands[0]).element_type();
      if (KindOf(from) == ElementKind::kPred) return BitWidth(type) > 1;
      return IsIntegral(from) && IsSigned(type) &&
             BitWidth(from) < BitWidth(type) && is_non_negative(operands[0]);
    }
    default:
      return false;
  }
}

}  // namespace hone::hlo::algsimp
