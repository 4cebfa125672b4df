// Sums, products and powers.
//
//   x + 0 → x, x - 0 → x
//   x + (-y) → x - y, x - (-y) → x + y       the negation has no other user
//   x - x → 0, 0 - x → -x                    integers: ∞ - ∞ is NaN
//   x · 1 → x, x / 1 → x, x · (-1) → -x
//   x · 0 → 0                                integers: NaN and ∞ give NaN
//   1 / sqrt(x) → rsqrt(x), 1 / rsqrt(x) → sqrt(x)      floats; reassociates
//   x % 1 → 0, (x % c) % c → x % c           integers
//   -(-x) → x
//   -(x - y) → y - x                         the difference has no other user
//   (-x) ∘ y → -(x ∘ y), (-x) ∘ (-y) → x ∘ y, ∘ one of · / dot convolution:
//     the negations have no other user, and no integer is widened, as the
//     smallest one has no positive. Signs move towards the root, where sums
//     absorb them.
//   x ^ 1 → x
//   x ^ 2 → x · x                            floats: reassociates
//   x ^ 3 → (x · x) · x                      likewise; nothing else uses the 3
//
// and those of constant_chains.cc and AddIntoScatter. Integers wrap, and so do
// their rules. Complex numbers have those without constants.

#include "hlo/passes/algsimp/rules.h"

namespace hone::hlo::algsimp {
namespace {

bool IsIntegerArray(const Rewriter& r, InstructionId id) {
  return IsIntegral(r.shape(id).element_type());
}

bool ReplaceWithZero(Rewriter& r, InstructionId id) {
  return r.Replace(
      id, MakeUniform(r, Literal::ScalarInt(r.shape(id).element_type(), 0),
                      r.dimensions_of(id)));
}

}  // namespace

bool SimplifyAdd(Rewriter& r, InstructionId id) {
  InstructionId x;
  if (r.Match(id, m::AddAnyOrder(m::Op(&x), m::Uniform(0)))) {
    return r.Replace(id, x);
  }
  for (size_t i = 2; i-- > 0;) {
    const InstructionId y = NegatedOperand(r, r.operand(id, i), id);
    if (y == kNoInstruction) continue;
    x = r.operand(id, 1 - i);
    return r.Replace(id, MakeBinary(r, Opcode::kSubtract, x, y));
  }
  return AddIntoScatter(r, id) || MergeOffsets(r, id);
}

bool SimplifySubtract(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  const InstructionId y = r.operand(id, 1);
  if (r.Match(y, m::Uniform(0))) return r.Replace(id, x);
  if (IsIntegerArray(r, id)) {
    if (x == y) return ReplaceWithZero(r, id);
    if (r.Match(x, m::Uniform(0))) {
      return r.Replace(id, MakeUnary(r, Opcode::kNegate, y));
    }
  }
  const InstructionId negated = NegatedOperand(r, y, id);
  if (negated != kNoInstruction) {
    return r.Replace(id, MakeBinary(r, Opcode::kAdd, x, negated));
  }
  return MergeOffsets(r, id);
}

bool SimplifyMultiply(Rewriter& r, InstructionId id) {
  InstructionId x;
  if (r.Match(id, m::MultiplyAnyOrder(m::Op(&x), m::Uniform(1)))) {
    return r.Replace(id, x);
  }
  if (IsIntegerArray(r, id) &&
      r.Match(id, m::MultiplyAnyOrder(m::Op(), m::Uniform(0)))) {
    return ReplaceWithZero(r, id);
  }
  if (r.Match(id, m::MultiplyAnyOrder(m::Op(&x), m::Uniform(-1)))) {
    return r.Replace(id, MakeUnary(r, Opcode::kNegate, x));
  }
  return MergeScales(r, id) || HoistNegation(r, id);
}

bool SimplifyDivide(Rewriter& r, InstructionId id) {
  InstructionId x;
  if (r.Match(id, m::Divide(m::Op(&x), m::Uniform(1)))) {
    return r.Replace(id, x);
  }
  if (!IsFloat(r.shape(id).element_type())) return false;
  if (MayRound(r, id)) {
    if (r.Match(id, m::Divide(m::Uniform(1), m::Sqrt(m::Op(&x))))) {
      return r.Replace(id, MakeUnary(r, Opcode::kRsqrt, x));
    }
    if (r.Match(id, m::Divide(m::Uniform(1), m::Rsqrt(m::Op(&x))))) {
      return r.Replace(id, MakeUnary(r, Opcode::kSqrt, x));
    }
  }
  return MergeScales(r, id) || HoistNegation(r, id);
}

bool SimplifyRemainder(Rewriter& r, InstructionId id) {
  if (!IsIntegerArray(r, id)) return false;
  const InstructionId x = r.operand(id, 0);
  const InstructionId y = r.operand(id, 1);
  if (r.Match(y, m::Uniform(1))) return ReplaceWithZero(r, id);
  return r.Is(x, Opcode::kRemainder) && r.operand(x, 1) == y &&
         r.Replace(id, x);
}

bool SimplifyNegate(Rewriter& r, InstructionId id) {
  // It has no negative numbers.
  if (r.shape(id).element_type() == ElementType::kF8e8m0fnu) return false;
  InstructionId x;
  InstructionId y;
  if (r.Match(id, m::Negate(m::Negate(m::Op(&x))))) return r.Replace(id, x);
  if (r.Match(id, m::Negate(m::Subtract(m::Op(&x), m::Op(&y)))) &&
      MayAbsorb(r, r.operand(id, 0), id)) {
    return r.Replace(id, MakeBinary(r, Opcode::kSubtract, y, x));
  }
  return MergeScales(r, id);
}

bool HoistNegation(Rewriter& r, InstructionId id) {
  InstructionIds operands = r[id].operands();
  if (operands[0] == operands[1]) return false;
  int negations = 0;
  for (InstructionId& operand : operands) {
    const ElementType type = r.shape(operand).element_type();
    const InstructionId x = NegatedOperand(r, operand, id);
    const bool widens = IsIntegral(type) && type != r.shape(id).element_type();
    if (x == kNoInstruction || widens) continue;
    operand = x;
    ++negations;
  }
  if (negations == 0) return false;
  const InstructionId product = MakeLike(r, id, operands);
  return r.Replace(
      id, negations == 2 ? product : MakeUnary(r, Opcode::kNegate, product));
}

bool SimplifyPower(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  const InstructionId exponent = r.operand(id, 1);
  if (r.Match(exponent, m::Uniform(1))) return r.Replace(id, x);
  if (!MayRound(r, id)) return false;
  const bool cubes =
      r.Match(exponent, m::Uniform(3)) && r.FreedWith(exponent, id) > 0;
  if (!cubes && !r.Match(exponent, m::Uniform(2))) return false;
  InstructionId power = MakeBinary(r, Opcode::kMultiply, x, x);
  if (cubes) power = MakeBinary(r, Opcode::kMultiply, power, x);
  return r.Replace(id, power);
}

}  // namespace hone::hlo::algsimp
