#include "hlo/passes/algsimp/rules.h"

namespace hone::hlo::algsimp {
namespace {

// Bits of a float's significand, the hidden one included; 0 for small formats.
int Precision(ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return 53;
    case ElementType::kF32:
      return 24;
    case ElementType::kF16:
      return 11;
    case ElementType::kBf16:
      return 8;
    default:
      return 0;
  }
}

// Whether every value of `from` is one of `to`.
bool IsLossless(ElementType from, ElementType to) {
  if (from == to) return true;
  if (KindOf(from) == ElementKind::kPred) return !IsComplex(to);
  if (IsFloat(from) && IsFloat(to)) {
    if (to == ElementType::kF64) return Precision(from) > 0;
    return to == ElementType::kF32 &&
           (from == ElementType::kF16 || from == ElementType::kBf16);
  }
  if (!IsIntegral(from)) return false;
  if (IsFloat(to)) return BitWidth(from) <= Precision(to);
  if (!IsIntegral(to)) return false;
  if (IsSigned(from) == IsSigned(to)) return BitWidth(from) < BitWidth(to);
  return IsUnsigned(from) && BitWidth(from) < BitWidth(to);
}

}  // namespace

// convert(x) → x: same type
// convert(convert(x)) → convert(x), or x: the inner one loses nothing, and both
// steps round or wrap as the one step would (from an integer over a float to
// another integer they do not: saturation takes the place of wrapping).
bool SimplifyConvert(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  const ElementType to = r.shape(id).element_type();
  const ElementType middle = r.shape(x).element_type();
  if (middle == to) return r.Replace(id, x);
  if (!r.Is(x, Opcode::kConvert)) return false;
  const InstructionId source = r.operand(x, 0);
  const ElementType from = r.shape(source).element_type();
  if (!IsLossless(from, middle)) return false;
  if (from == to) return r.Replace(id, source);
  const bool changes_kind_of_rounding =
      IsIntegral(from) && IsFloat(middle) && !IsFloat(to);
  if (changes_kind_of_rounding) return false;
  return r.ReplaceWith(
      id, Instruction(Opcode::kConvert, r[id].shape_ptr(), {source}));
}

// bitcast-convert(x) → x: same type
// bitcast-convert(bitcast-convert(x)) → bitcast-convert(x)
bool SimplifyBitcastConvert(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  if (Shape::Equal(r.shape(x), r.shape(id))) return r.Replace(id, x);
  if (!r.Is(x, Opcode::kBitcastConvert) ||
      r.dimensions_of(r.operand(x, 0)) != r.dimensions_of(id)) {
    return false;
  }
  return r.ReplaceWith(id, Instruction(Opcode::kBitcastConvert,
                                       r[id].shape_ptr(), {r.operand(x, 0)}));
}

// bitcast(x) → x: same shape
bool SimplifyBitcast(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  return Shape::Equal(r.shape(x), r.shape(id)) && r.Replace(id, x);
}

}  // namespace hone::hlo::algsimp
