// Functions of one operand, and complex numbers.
//
//   |x| → x                     x is known to be non-negative, or is |y|
//   |-x| → |x|                  of complex numbers too, in the type of their
//                               parts
//   f(f(x)) → f(x)              floor, ceil, roundings and sign; the sign of
//                               complex numbers reassociates
//   real(complex(x, y)) → x, imag(complex(x, y)) → y
//   complex(real(z), imag(z)) → z

#include "hlo/passes/algsimp/rules.h"

namespace hone::hlo::algsimp {

bool SimplifyAbs(Rewriter& r, InstructionId id) {
  InstructionId x = r.operand(id, 0);
  if (r.Is(x, Opcode::kAbs) || IsNonNegative(r, x)) return r.Replace(id, x);
  return r.shape(id).element_type() != ElementType::kF8e8m0fnu &&
         r.Match(id, m::Abs(m::Negate(m::Op(&x)))) &&
         r.Replace(id, MakeUnary(r, Opcode::kAbs, x));
}

bool SimplifyIdempotent(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  if (!r.Is(x, r[id].opcode())) return false;
  return (!IsComplex(r.shape(id).element_type()) || MayRound(r, id)) &&
         r.Replace(id, x);
}

bool SimplifyComplexPart(Rewriter& r, InstructionId id) {
  const InstructionId z = r.operand(id, 0);
  return r.Is(z, Opcode::kComplex) &&
         r.Replace(id, r.operand(z, r.Is(id, Opcode::kReal) ? 0 : 1));
}

bool SimplifyComplex(Rewriter& r, InstructionId id) {
  InstructionId z;
  InstructionId same;
  return r.Match(id, m::Complex(m::Real(m::Op(&z)), m::Imag(m::Op(&same)))) &&
         z == same && IsComplex(r.shape(z).element_type()) && r.Replace(id, z);
}

}  // namespace hone::hlo::algsimp
