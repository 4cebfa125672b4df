// Conversions. All exact.
//
//   convert(x) → x                           same type
//   convert(convert(x)) → convert(x), or x   the inner one loses nothing, and
//     both steps round or wrap as the one step does. From an integer over a
//     float to another integer they do not, as that saturates instead of
//     wrapping; nor from a wide integer over f64 to less than 32 bits, which
//     rounds once where the one step may round twice.
//   bitcast-convert(x) → x                   same type
//   bitcast-convert(bitcast-convert(x)) → bitcast-convert(x): not over pred,
//     which has no bits but one
//   bitcast(x) → x                           same type, sizes and layout: it
//     reads memory as it lies, so another layout permutes the elements

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

// Returns true if converting from `from` to `to` equals doing so over `middle`,
// which holds every value of `from`.
bool SkipsExactly(ElementType from, ElementType middle, ElementType to) {
  if (from == to) return true;
  if (!IsIntegral(from) || !IsFloat(middle)) return true;
  return IsFloat(to) &&
         (BitWidth(to) >= 32 || BitWidth(from) <= Precision(ElementType::kF32));
}

}  // namespace

bool IsLossless(ElementType from, ElementType to) {
  if (from == to) return true;
  if (KindOf(from) == ElementKind::kPred) {
    // s1 has no 1, f8e8m0fnu no 0.
    return !IsComplex(to) && to != ElementType::kS1 &&
           to != ElementType::kF8e8m0fnu;
  }
  if (IsFloat(from) && IsFloat(to)) {
    if (to == ElementType::kF64) return Precision(from) > 0;
    return to == ElementType::kF32 &&
           (from == ElementType::kF16 || from == ElementType::kBf16);
  }
  if (!IsIntegral(from)) return false;
  if (IsFloat(to)) return BitWidth(from) <= Precision(to);
  return IsIntegral(to) && BitWidth(from) < BitWidth(to) &&
         (IsUnsigned(from) || IsSigned(to));
}

bool SimplifyConvert(Rewriter& r, InstructionId id) {
  InstructionId x = r.operand(id, 0);
  const ElementType to = r.shape(id).element_type();
  const ElementType middle = r.shape(x).element_type();
  if (middle == to) return r.Replace(id, x);
  if (!r.Match(x, m::Convert(m::Op(&x)))) return false;
  const ElementType from = r.shape(x).element_type();
  return IsLossless(from, middle) && SkipsExactly(from, middle, to) &&
         r.Replace(id, MakeConvert(r, x, to));
}

bool SimplifyBitcastConvert(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  if (Shape::Equal(r.shape(x), r.shape(id))) return r.Replace(id, x);
  InstructionId source;
  if (!r.Match(x, m::BitcastConvert(m::Op(&source))) ||
      r.shape(x).element_type() == ElementType::kPred ||
      r.dimensions_of(source) != r.dimensions_of(id)) {
    return false;
  }
  if (Shape::Equal(r.shape(source), r.shape(id))) {
    return r.Replace(id, source);
  }
  return r.Replace(id, MakeLike(r, id, {source}));
}

bool SimplifyBitcast(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  return Shape::Equal(r.shape(x), r.shape(id), /*ignore_layout=*/false) &&
         r.Replace(id, x);
}

}  // namespace hone::hlo::algsimp
