#include <cmath>
#include <optional>
#include <utility>

#include "hlo/passes/algsimp/rules.h"

namespace hone::hlo::algsimp {

// |x| → x when x is known to be non-negative, and | |x| | → |x|
// |-x| → |x|
bool SimplifyAbs(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  if (r.Is(x, Opcode::kAbs) || IsNonNegative(r, x)) return r.Replace(id, x);
  if (r.Is(x, Opcode::kNegate)) {
    return r.Replace(id, MakeUnary(r, Opcode::kAbs, r.operand(x, 0)));
  }
  return false;
}

// f(f(x)) → f(x) for floor, ceil, the roundings and sign.
bool SimplifyIdempotent(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  return r.Is(x, r[id].opcode()) && r.Replace(id, x);
}

// x ^ 1 → x
// x ^ 2 → x · x, and x ^ 3 → (x · x) · x when the exponent goes with it: the
// count stays or falls, and a product costs less than a power.
bool SimplifyPower(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  const InstructionId exponent = r.operand(id, 1);
  const Computation& c = r.computation();
  if (IsUniform(c, exponent, 1)) return r.Replace(id, x);
  if (IsUniform(c, exponent, 2)) {
    return r.Replace(id, MakeBinary(r, Opcode::kMultiply, x, x));
  }
  if (IsUniform(c, exponent, 3) && r.FreedWith(exponent, id) > 0) {
    const InstructionId square = MakeBinary(r, Opcode::kMultiply, x, x);
    return r.Replace(id, MakeBinary(r, Opcode::kMultiply, square, x));
  }
  return false;
}

// real(complex(x, y)) → x, imag(complex(x, y)) → y
bool SimplifyComplexPart(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  if (!r.Is(x, Opcode::kComplex)) return false;
  return r.Replace(id, r.operand(x, r.Is(id, Opcode::kReal) ? 0 : 1));
}

// complex(real(z), imag(z)) → z
bool SimplifyComplex(Rewriter& r, InstructionId id) {
  const InstructionId real = r.operand(id, 0);
  const InstructionId imag = r.operand(id, 1);
  if (!r.Is(real, Opcode::kReal) || !r.Is(imag, Opcode::kImag)) return false;
  const InstructionId z = r.operand(real, 0);
  return r.operand(imag, 0) == z && IsComplex(r.shape(z).element_type()) &&
         r.Replace(id, z);
}

bool IsNonNegative(const Rewriter& r, InstructionId id, int depth) {
  const Instruction& instruction = r[id];
  const ElementType type = instruction.shape().element_type();
  if (IsUnsigned(type)) return true;
  if (depth == 0) return false;
  const auto operand_is = [&](size_t i) {
    return IsNonNegative(r, instruction.operand(i), depth - 1);
  };
  switch (instruction.opcode()) {
    case Opcode::kIota:
      // It wraps where it does not fit.
      return IsFloat(type) || (IsSigned(type) && BitWidth(type) >= 32);
    case Opcode::kConstant: {
      const Literal* literal = UniformLiteral(r.computation(), id);
      return literal != nullptr && !IsComplex(type) &&
             literal->AsDouble(0) >= 0;
    }
    case Opcode::kBroadcast:
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kSlice:
    case Opcode::kReverse:
    case Opcode::kDynamicSlice:
      return operand_is(0);
    case Opcode::kConcatenate: {
      for (size_t i = 0; i < instruction.operand_count(); ++i) {
        if (!operand_is(i)) return false;
      }
      return true;
    }
    case Opcode::kSelect:
      return operand_is(1) && operand_is(2);
    // Not abs, as the smallest signed integer has no positive, and not divide,
    // as n / 0 is -1.
    case Opcode::kMinimum:
    case Opcode::kRemainder:
      return IsSigned(type) && operand_is(0) && operand_is(1);
    case Opcode::kMaximum:
      return IsSigned(type) && (operand_is(0) || operand_is(1));
    case Opcode::kClamp:
      // min(max(x, low), high)
      return IsSigned(type) && operand_is(0) && operand_is(2);
    case Opcode::kAnd:
      return IsSigned(type) && (operand_is(0) || operand_is(1));
    case Opcode::kConvert: {
      // Widening keeps the value; narrowing may set the sign.
      const ElementType from = r.shape(instruction.operand(0)).element_type();
      if (KindOf(from) == ElementKind::kPred) return !IsComplex(type);
      return IsIntegral(from) && IsSigned(type) &&
             (BitWidth(from) < BitWidth(type) ||
              (BitWidth(from) == BitWidth(type) && IsSigned(from))) &&
             operand_is(0);
    }
    default:
      return false;
  }
}

}  // namespace hone::hlo::algsimp
