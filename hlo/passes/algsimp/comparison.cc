#include <optional>
#include <utility>

#include "hlo/passes/algsimp/rules.h"
#include "hlo/passes/algsimp/scalars.h"

namespace hone::hlo::algsimp {
namespace {

bool IsPred(const Rewriter& r, InstructionId id) {
  return KindOf(r.shape(id).element_type()) == ElementKind::kPred;
}
bool IsDiscrete(const Rewriter& r, InstructionId id) {
  return IsPred(r, id) || IsIntegral(r.shape(id).element_type());
}

bool ReplaceWithPred(Rewriter& r, InstructionId id, bool value) {
  return r.Replace(
      id, MakeUniform(r, Literal::ScalarInt(ElementType::kPred, value ? 1 : 0),
                      r.dimensions_of(id)));
}

bool HoldsForEqual(ComparisonDirection direction) {
  return direction == ComparisonDirection::kEq ||
         direction == ComparisonDirection::kGe ||
         direction == ComparisonDirection::kLe;
}

// max(x, lowest) → x, min(x, highest) → x; max(x, x) → x
// max(max(x, c1), c2) → max(x, max(c1, c2)), likewise min: when the inner one
// has no other user.
bool SimplifyExtremum(Rewriter& r, InstructionId id) {
  const Opcode opcode = r[id].opcode();
  for (size_t i = 0; i < 2; ++i) {
    const InstructionId x = r.operand(id, i);
    const InstructionId y = r.operand(id, 1 - i);
    if (x == y) return r.Replace(id, x);
    const Literal* bound = UniformLiteral(r.computation(), y);
    if (bound == nullptr) continue;
    if (IsReductionIdentity(opcode, *bound)) return r.Replace(id, x);
    if (!r.Is(x, opcode) || !r.DiesWith(x, id)) continue;
    for (size_t j = 0; j < 2; ++j) {
      const Literal* inner = UniformLiteral(r.computation(), r.operand(x, j));
      if (inner == nullptr) continue;
      const std::optional<bool> inner_is_less = IsAtMost(*inner, *bound);
      if (!inner_is_less.has_value()) continue;
      // The merged bound is one of the two: no new constant.
      const bool keep_outer = *inner_is_less == (opcode == Opcode::kMaximum);
      const InstructionId source = r.operand(x, 1 - j);
      const InstructionId kept = keep_outer ? y : r.operand(x, j);
      return r.Replace(id, MakeBinary(r, opcode, source, kept));
    }
  }
  return false;
}

// The constant operand of a uniform-bounded max or min; kNoInstruction if there
// is none.
InstructionId BoundOf(const Rewriter& r, InstructionId id) {
  for (size_t i = 0; i < 2; ++i) {
    if (UniformLiteral(r.computation(), r.operand(id, i)) != nullptr) {
      return r.operand(id, i);
    }
  }
  return kNoInstruction;
}

// min(max(x, low), high) → clamp(low, x, high) and max(min(x, high), low) →
// the same: constants with low <= high, and the inner one has no other user.
bool FormClamp(Rewriter& r, InstructionId id) {
  const bool outer_is_min = r.Is(id, Opcode::kMinimum);
  const Opcode inner_opcode =
      outer_is_min ? Opcode::kMaximum : Opcode::kMinimum;
  const InstructionId outer_bound = BoundOf(r, id);
  if (outer_bound == kNoInstruction) return false;
  const InstructionId inner =
      r.operand(id, r.operand(id, 0) == outer_bound ? 1 : 0);
  if (!r.Is(inner, inner_opcode) || !r.DiesWith(inner, id)) return false;
  const InstructionId inner_bound = BoundOf(r, inner);
  if (inner_bound == kNoInstruction) return false;
  const InstructionId x =
      r.operand(inner, r.operand(inner, 0) == inner_bound ? 1 : 0);
  const InstructionId low = outer_is_min ? inner_bound : outer_bound;
  const InstructionId high = outer_is_min ? outer_bound : inner_bound;
  const std::optional<bool> ordered =
      IsAtMost(*UniformLiteral(r.computation(), low),
               *UniformLiteral(r.computation(), high));
  if (!ordered.value_or(false)) return false;
  return r.ReplaceWith(
      id, Instruction(Opcode::kClamp, r[id].shape_ptr(), {low, x, high}));
}

}  // namespace

// x = x and the like → constant: integers and pred, as NaN ≠ NaN
// x < 0 → false, x >= 0 → true: x known to be non-negative
// x = true → x, x ≠ false → x; x = false → !x, x ≠ true → !x
bool SimplifyCompare(Rewriter& r, InstructionId id) {
  const InstructionId a = r.operand(id, 0);
  const InstructionId b = r.operand(id, 1);
  const ComparisonDirection direction = r[id].attributes().direction;
  if (!IsDiscrete(r, a)) return false;
  if (a == b) return ReplaceWithPred(r, id, HoldsForEqual(direction));
  const Computation& c = r.computation();
  if (IsPred(r, a)) {
    if (direction != ComparisonDirection::kEq &&
        direction != ComparisonDirection::kNe) {
      return false;
    }
    for (size_t i = 0; i < 2; ++i) {
      const InstructionId x = r.operand(id, i);
      const Literal* literal = UniformLiteral(c, r.operand(id, 1 - i));
      if (literal == nullptr) continue;
      const bool same =
          (literal->AsInt(0) != 0) == (direction == ComparisonDirection::kEq);
      if (same) return r.Replace(id, x);
      return r.Replace(id, MakeUnary(r, Opcode::kNot, x));
    }
    return false;
  }
  if (IsUniform(c, b, 0) && IsNonNegative(r, a)) {
    if (direction == ComparisonDirection::kLt) {
      return ReplaceWithPred(r, id, false);
    }
    if (direction == ComparisonDirection::kGe) {
      return ReplaceWithPred(r, id, true);
    }
  }
  return false;
}

// select(true, x, y) → x, select(false, x, y) → y, select(p, x, x) → x
// select(p, true, false) → p, select(p, false, true) → !p
// select(p, x, false) → p & x, select(p, true, x) → p | x
// select(!p, x, y) → select(p, y, x)
// select(p, select(p, x, _), y) → select(p, x, y), likewise the other side
bool SimplifySelect(Rewriter& r, InstructionId id) {
  const InstructionId p = r.operand(id, 0);
  const InstructionId x = r.operand(id, 1);
  const InstructionId y = r.operand(id, 2);
  const Computation& c = r.computation();
  if (x == y) return r.Replace(id, x);
  if (const Literal* literal = UniformLiteral(c, p)) {
    return r.Replace(id, literal->AsInt(0) != 0 ? x : y);
  }
  const std::shared_ptr<const Attributes> attributes = r[id].attributes_ptr();
  const ShapePtr shape = r[id].shape_ptr();
  if (r.Is(p, Opcode::kNot)) {
    return r.ReplaceWith(id, Instruction(Opcode::kSelect, shape,
                                         {r.operand(p, 0), y, x}, attributes));
  }
  if (r.Is(x, Opcode::kSelect) && r.operand(x, 0) == p) {
    return r.ReplaceWith(id, Instruction(Opcode::kSelect, shape,
                                         {p, r.operand(x, 1), y}, attributes));
  }
  if (r.Is(y, Opcode::kSelect) && r.operand(y, 0) == p) {
    return r.ReplaceWith(id, Instruction(Opcode::kSelect, shape,
                                         {p, x, r.operand(y, 2)}, attributes));
  }
  if (!IsPred(r, id) || !Shape::Equal(r.shape(p), r.shape(id))) return false;
  const bool x_is_true = IsUniform(c, x, 1);
  const bool x_is_false = IsUniform(c, x, 0);
  const bool y_is_true = IsUniform(c, y, 1);
  const bool y_is_false = IsUniform(c, y, 0);
  if (x_is_true && y_is_false) return r.Replace(id, p);
  if (x_is_false && y_is_true) {
    return r.Replace(id, MakeUnary(r, Opcode::kNot, p));
  }
  if (y_is_false) {
    return r.Replace(id, MakeBinary(r, Opcode::kAnd, p, x));
  }
  if (x_is_true) return r.Replace(id, MakeBinary(r, Opcode::kOr, p, y));
  return false;
}

bool SimplifyMaximum(Rewriter& r, InstructionId id) {
  return SimplifyExtremum(r, id) || FormClamp(r, id);
}

bool SimplifyMinimum(Rewriter& r, InstructionId id) {
  return SimplifyExtremum(r, id) || FormClamp(r, id);
}

// clamp(broadcast(low), x, broadcast(high)) → clamp(low, x, high) for scalars
// clamp(lowest, x, high) → min(x, high) is left alone: it saves nothing.
bool SimplifyClamp(Rewriter& r, InstructionId id) {
  const InstructionId low = r.operand(id, 0);
  const InstructionId high = r.operand(id, 2);
  if (r.shape(id).IsScalar()) return false;
  const InstructionId scalar_low = ScalarSource(r.computation(), low);
  const InstructionId scalar_high = ScalarSource(r.computation(), high);
  if (scalar_low == kNoInstruction || scalar_high == kNoInstruction ||
      (scalar_low == low && scalar_high == high)) {
    return false;
  }
  return r.ReplaceWith(
      id, Instruction(Opcode::kClamp, r[id].shape_ptr(),
                      {scalar_low, r.operand(id, 1), scalar_high}));
}

}  // namespace hone::hlo::algsimp
