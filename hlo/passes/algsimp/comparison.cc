// Comparisons and selections. All exact.
//
//   x = x and the like → constant            integers and pred, as NaN ≠ NaN
//   x < 0 → false, x >= 0 → true             integers known to be non-negative
//   x = true → x, x ≠ false → x, x = false → !x, x ≠ true → !x
//   select(true, x, y) → x, select(false, x, y) → y, select(p, x, x) → x
//   select(!p, x, y) → select(p, y, x)
//   select(p, select(p, x, _), y) → select(p, x, y), likewise the other side
//   select(p, true, false) → p, select(p, false, true) → !p
//   select(p, x, false) → p & x, select(p, true, x) → p | x

#include "hlo/passes/algsimp/rules.h"

namespace hone::hlo::algsimp {
namespace {

bool IsPred(const Rewriter& r, InstructionId id) {
  return r.shape(id).element_type() == ElementType::kPred;
}

bool ReplaceWithPred(Rewriter& r, InstructionId id, bool value) {
  return r.Replace(
      id, MakeUniform(r, Literal::ScalarInt(ElementType::kPred, value ? 1 : 0),
                      r.dimensions_of(id)));
}

// `x`, or !x.
bool ReplaceWithLogic(Rewriter& r, InstructionId id, InstructionId x,
                      bool complement) {
  return r.Replace(id, complement ? MakeUnary(r, Opcode::kNot, x) : x);
}

}  // namespace

bool SimplifyCompare(Rewriter& r, InstructionId id) {
  const InstructionId a = r.operand(id, 0);
  const InstructionId b = r.operand(id, 1);
  const ComparisonDirection direction = r[id].attributes().direction;
  const bool is_equality = direction == ComparisonDirection::kEq ||
                           direction == ComparisonDirection::kNe;
  if (!IsPred(r, a) && !IsIntegral(r.shape(a).element_type())) return false;
  if (a == b) {
    return ReplaceWithPred(r, id,
                           direction == ComparisonDirection::kEq ||
                               direction == ComparisonDirection::kGe ||
                               direction == ComparisonDirection::kLe);
  }
  if (IsPred(r, a)) {
    const Literal* literal;
    const bool constant_is_first = r.Match(a, m::Uniform(&literal));
    if (!is_equality ||
        !(constant_is_first || r.Match(b, m::Uniform(&literal)))) {
      return false;
    }
    const bool same =
        (literal->AsInt(0) != 0) == (direction == ComparisonDirection::kEq);
    return ReplaceWithLogic(r, id, constant_is_first ? b : a, !same);
  }
  const bool is_less = direction == ComparisonDirection::kLt;
  return (is_less || direction == ComparisonDirection::kGe) &&
         r.Match(b, m::Uniform(0)) && IsNonNegative(r, a) &&
         ReplaceWithPred(r, id, !is_less);
}

bool SimplifySelect(Rewriter& r, InstructionId id) {
  const InstructionId p = r.operand(id, 0);
  const InstructionId x = r.operand(id, 1);
  const InstructionId y = r.operand(id, 2);
  if (x == y) return r.Replace(id, x);
  const Literal* literal;
  if (r.Match(p, m::Uniform(&literal))) {
    return r.Replace(id, literal->AsInt(0) != 0 ? x : y);
  }
  if (r.Is(p, Opcode::kNot)) {
    return r.Replace(id, MakeSelect(r, r.operand(p, 0), y, x));
  }
  InstructionId inner;
  if (r.Match(x, m::Select(m::Same(p), m::Op(&inner), m::Op()))) {
    return r.Replace(id, MakeSelect(r, p, inner, y));
  }
  if (r.Match(y, m::Select(m::Same(p), m::Op(), m::Op(&inner)))) {
    return r.Replace(id, MakeSelect(r, p, x, inner));
  }
  if (!IsPred(r, id) || !Shape::Equal(r.shape(p), r.shape(id))) return false;
  if (r.Match(x, m::Uniform(1)) && r.Match(y, m::Uniform(0))) {
    return r.Replace(id, p);
  }
  if (r.Match(x, m::Uniform(0)) && r.Match(y, m::Uniform(1))) {
    return ReplaceWithLogic(r, id, p, true);
  }
  if (r.Match(y, m::Uniform(0))) {
    return r.Replace(id, MakeBinary(r, Opcode::kAnd, p, x));
  }
  return r.Match(x, m::Uniform(1)) &&
         r.Replace(id, MakeBinary(r, Opcode::kOr, p, y));
}

}  // namespace hone::hlo::algsimp
