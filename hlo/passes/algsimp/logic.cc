#include <optional>

#include "hlo/passes/algsimp/rules.h"

namespace hone::hlo::algsimp {
namespace {

bool IsLogical(const Rewriter& r, InstructionId id) {
  const ElementType type = r.shape(id).element_type();
  return IsIntegral(type) || KindOf(type) == ElementKind::kPred;
}

// Whether `id` is uniform with no bit set, respectively with every bit set.
bool IsAllZeros(const Rewriter& r, InstructionId id) {
  const Literal* literal = UniformLiteral(r.computation(), id);
  return literal != nullptr && IsReductionIdentity(Opcode::kOr, *literal);
}
bool IsAllOnes(const Rewriter& r, InstructionId id) {
  const Literal* literal = UniformLiteral(r.computation(), id);
  return literal != nullptr && IsReductionIdentity(Opcode::kAnd, *literal);
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

// x & x → x, x & ones → x, x & 0 → 0
bool SimplifyAnd(Rewriter& r, InstructionId id) {
  if (!IsLogical(r, id)) return false;
  for (size_t i = 0; i < 2; ++i) {
    const InstructionId x = r.operand(id, i);
    const InstructionId y = r.operand(id, 1 - i);
    if (x == y || IsAllOnes(r, y)) return r.Replace(id, x);
    if (IsAllZeros(r, y)) return r.Replace(id, y);
  }
  return false;
}

// x | x → x, x | 0 → x, x | ones → ones
bool SimplifyOr(Rewriter& r, InstructionId id) {
  if (!IsLogical(r, id)) return false;
  for (size_t i = 0; i < 2; ++i) {
    const InstructionId x = r.operand(id, i);
    const InstructionId y = r.operand(id, 1 - i);
    if (x == y || IsAllZeros(r, y)) return r.Replace(id, x);
    if (IsAllOnes(r, y)) return r.Replace(id, y);
  }
  return false;
}

// x ^ 0 → x, x ^ ones → !x
bool SimplifyXor(Rewriter& r, InstructionId id) {
  if (!IsLogical(r, id)) return false;
  for (size_t i = 0; i < 2; ++i) {
    const InstructionId x = r.operand(id, i);
    const InstructionId y = r.operand(id, 1 - i);
    if (IsAllZeros(r, y)) return r.Replace(id, x);
    if (IsAllOnes(r, y)) {
      return r.Replace(id, MakeUnary(r, Opcode::kNot, x));
    }
  }
  return false;
}

// !(!x) → x
// !(a < b) → a >= b and the like: when the comparison has no other user; of
// floats, where a NaN makes all but "not equal" false, only = and ≠.
bool SimplifyNot(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  if (r.Is(x, Opcode::kNot)) return r.Replace(id, r.operand(x, 0));
  if (!r.Is(x, Opcode::kCompare) || !r.DiesWith(x, id)) return false;
  const Instruction& compare = r[x];
  const ComparisonDirection direction = compare.attributes().direction;
  const ElementType type = r.shape(compare.operand(0)).element_type();
  if (!IsLogical(r, compare.operand(0)) &&
      !((IsFloat(type) || IsComplex(type)) &&
        (direction == ComparisonDirection::kEq ||
         direction == ComparisonDirection::kNe))) {
    return false;
  }
  auto attributes = std::make_shared<Attributes>(compare.attributes());
  attributes->direction = Complement(direction);
  return r.ReplaceWith(id, Instruction(Opcode::kCompare, r[id].shape_ptr(),
                                       compare.operands(), attributes));
}

// x << 0 → x, x >> 0 → x
bool SimplifyShift(Rewriter& r, InstructionId id) {
  return IsAllZeros(r, r.operand(id, 1)) && r.Replace(id, r.operand(id, 0));
}

}  // namespace hone::hlo::algsimp
