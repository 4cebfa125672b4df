// Logic on pred and integers. All exact.
//
//   x & x → x, x & ones → x, x & 0 → 0
//   x | x → x, x | 0 → x, x | ones → ones
//   x ^ 0 → x, x ^ ones → !x
//   !(!x) → x
//   !(a < b) → a >= b and the like: when the comparison has no other user; of
//     floats, where a NaN makes all but "not equal" false, only = and ≠ unless
//     they are compared in their total order
//   x << 0 → x, x >> 0 → x

#include "hlo/passes/algsimp/rules.h"

namespace hone::hlo::algsimp {
namespace {

// And and or: `absorbing` is the opcode whose identity element absorbs.
bool SimplifyLattice(Rewriter& r, InstructionId id, Opcode absorbing) {
  for (size_t i = 0; i < 2; ++i) {
    const InstructionId x = r.operand(id, i);
    const InstructionId y = r.operand(id, 1 - i);
    if (x == y || IsIdentityElement(r, y, r[id].opcode()))
      return r.Replace(id, x);
    if (IsIdentityElement(r, y, absorbing)) return r.Replace(id, y);
  }
  return false;
}

// The direction of !(a direction b).
ComparisonDirection Complement(ComparisonDirection direction) {
  switch (direction) {
    case ComparisonDirection::kEq:
      return ComparisonDirection::kNe;
    case ComparisonDirection::kNe:
      return ComparisonDirection::kEq;
    case ComparisonDirection::kGe:
      return ComparisonDirection::kLt;
    case ComparisonDirection::kGt:
      return ComparisonDirection::kLe;
    case ComparisonDirection::kLe:
      return ComparisonDirection::kGt;
    case ComparisonDirection::kLt:
      return ComparisonDirection::kGe;
  }
  return direction;
}

}  // namespace

bool SimplifyAnd(Rewriter& r, InstructionId id) {
  return SimplifyLattice(r, id, Opcode::kOr);
}

bool SimplifyOr(Rewriter& r, InstructionId id) {
  return SimplifyLattice(r, id, Opcode::kAnd);
}

bool SimplifyXor(Rewriter& r, InstructionId id) {
  for (size_t i = 0; i < 2; ++i) {
    const InstructionId x = r.operand(id, i);
    const InstructionId y = r.operand(id, 1 - i);
    if (IsIdentityElement(r, y, Opcode::kXor)) return r.Replace(id, x);
    if (IsIdentityElement(r, y, Opcode::kAnd)) {
      return r.Replace(id, MakeUnary(r, Opcode::kNot, x));
    }
  }
  return false;
}

bool SimplifyNot(Rewriter& r, InstructionId id) {
  InstructionId x;
  if (r.Match(id, m::Not(m::Not(m::Op(&x))))) return r.Replace(id, x);
  x = r.operand(id, 0);
  if (!r.Is(x, Opcode::kCompare) || !MayAbsorb(r, x, id)) return false;
  Attributes attributes = r[x].attributes();
  const ElementType type = r.shape(r.operand(x, 0)).element_type();
  const ComparisonDirection direction = attributes.direction;
  if ((IsFloat(type) || IsComplex(type)) &&
      attributes.comparison_type != "TOTALORDER" &&
      direction != ComparisonDirection::kEq &&
      direction != ComparisonDirection::kNe) {
    return false;
  }
  attributes.direction = Complement(direction);
  return r.Replace(id, MakeLike(r, x, r[x].operands(), std::move(attributes)));
}

bool SimplifyShift(Rewriter& r, InstructionId id) {
  return r.Match(r.operand(id, 1), m::Uniform(0)) &&
         r.Replace(id, r.operand(id, 0));
}

}  // namespace hone::hlo::algsimp
