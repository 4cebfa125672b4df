// Chains of two operations with constants. The inner one has no other user, and
// the new constant is paid for by those that go.
//
//   (x ± c1) ± c2 → x ± c, c = c1 ± c2                  floats: reassociates
//     c is exact. Floats: both go the same way, as (x + c) - c may be there to
//     round x. Upstream rounds c.
//   (x · c1) · c2 → x · (c1 · c2), likewise with / and negate      reassociates
//     Floats: a multiplication, or a division if both divide; c1, c2 and the
//     result are normal numbers. Exact if one of them is a negation.
//
// What was finite stays so, up to rounding at the largest number: x ± c1 does
// not overflow further than the result did, and x · c1 · c2 is in range where
// the two steps were. The converse does not hold where one scale undoes the
// other: x · c1 may have overflowed, or underflowed, where the result now is in
// range. That takes an extreme x if the scales are within 2^±24; otherwise it
// counts as a change of range, as does all of this in f16, whose overflow is
// how a training loop finds its loss scale. Upstream merges them always.

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "hlo/passes/algsimp/rules.h"
#include "hlo/passes/algsimp/scalars.h"

namespace hone::hlo::algsimp {
namespace {

// Returns true if a new uniform constant of the shape of `id` in place of the
// constants of `id` and of `inner`, one of which goes, does not raise the
// count. An operand may be kNoInstruction.
bool PaysForUniform(const Rewriter& r, InstructionId id, InstructionId constant,
                    InstructionId inner, InstructionId inner_constant) {
  int removed = 1;
  if (constant != kNoInstruction) removed += r.FreedWith(constant, id);
  if (inner_constant != kNoInstruction) {
    removed += r.FreedWith(inner_constant, inner);
  }
  return removed >= (r.shape(id).IsScalar() ? 1 : 2);
}

// `id` as x + constant or x - constant.
struct Offset {
  InstructionId x;
  InstructionId constant;
  const Literal* literal;
  bool subtracts;
};

std::optional<Offset> MatchOffset(const Rewriter& r, InstructionId id) {
  const bool subtracts = r.Is(id, Opcode::kSubtract);
  if (!subtracts && !r.Is(id, Opcode::kAdd)) return std::nullopt;
  for (size_t i = subtracts ? 1 : 0; i < 2; ++i) {
    const InstructionId constant = r.operand(id, i);
    const Literal* literal;
    if (r.Match(constant, m::Uniform(&literal))) {
      return Offset{r.operand(id, 1 - i), constant, literal, subtracts};
    }
  }
  return std::nullopt;
}

// `id` as x · factor or x / factor; a negation has no constant.
struct Scale {
  InstructionId x;
  InstructionId constant = kNoInstruction;
  double factor = -1;
  bool divides = false;

  bool Negates() const { return constant == kNoInstruction; }
  // The factor by which x grows.
  double Growth() const { return std::fabs(divides ? 1 / factor : factor); }
};

std::optional<Scale> MatchScale(const Rewriter& r, InstructionId id) {
  if (r.Is(id, Opcode::kNegate)) return Scale{r.operand(id, 0)};
  const bool divides = r.Is(id, Opcode::kDivide);
  if (!divides && !r.Is(id, Opcode::kMultiply)) return std::nullopt;
  for (size_t i = divides ? 1 : 0; i < 2; ++i) {
    const InstructionId constant = r.operand(id, i);
    const Literal* literal;
    if (r.Match(constant, m::Uniform(&literal))) {
      const double factor = literal->AsDouble(0);
      if (factor == 0 ||
          !NormalScalar(r.shape(id).element_type(), factor).has_value()) {
        return std::nullopt;
      }
      return Scale{r.operand(id, 1 - i), constant, factor, divides};
    }
  }
  return std::nullopt;
}

// Two roundings may stop at the largest finite number where one passes it. That
// takes an argument within a few units of it, which is out of the question but
// in f16, whose overflow is how a training loop finds its loss scale.
bool MayGrow(const Rewriter& r, InstructionId id) {
  return r.shape(id).element_type() != ElementType::kF16 ||
         r.Permits(NumericClass::kChangesRange);
}

}  // namespace

bool MergeOffsets(Rewriter& r, InstructionId id) {
  const std::optional<Offset> outer = MatchOffset(r, id);
  if (!outer.has_value() || !MayAbsorb(r, outer->x, id)) return false;
  const std::optional<Offset> inner = MatchOffset(r, outer->x);
  if (!inner.has_value() || !MayRound(r, id) || !MayGrow(r, id)) return false;
  // ±c1 ± c2 = ±(c1 ± c2).
  const bool subtract = inner->subtracts != outer->subtracts;
  std::optional<Literal> sum =
      FoldSum(*inner->literal, *outer->literal, subtract);
  if (!sum.has_value()) return false;
  if (IsFloat(r.shape(id).element_type())) {
    const double c1 = inner->literal->AsDouble(0);
    const double c2 = outer->literal->AsDouble(0) * (subtract ? -1 : 1);
    const double c = sum->AsDouble(0);
    if (std::signbit(c1) != std::signbit(c2) || c - c1 != c2 || c - c2 != c1) {
      return false;
    }
  }
  if (!PaysForUniform(r, id, outer->constant, outer->x, inner->constant)) {
    return false;
  }
  const Opcode opcode = r[outer->x].opcode();
  const InstructionId constant =
      MakeUniform(r, *std::move(sum), r.dimensions_of(id));
  return r.Replace(id, MakeBinary(r, opcode, inner->x, constant));
}

bool MergeScales(Rewriter& r, InstructionId id) {
  const ElementType type = r.shape(id).element_type();
  if (!IsFloat(type)) return false;
  const std::optional<Scale> outer = MatchScale(r, id);
  if (!outer.has_value() || !MayAbsorb(r, outer->x, id)) return false;
  const std::optional<Scale> inner = MatchScale(r, outer->x);
  if (!inner.has_value() || (inner->Negates() && outer->Negates())) {
    return false;
  }
  if (!inner->Negates() && !outer->Negates()) {
    if (!MayRound(r, id) || !MayGrow(r, id)) return false;
    const double largest = std::max(std::fabs(std::log2(inner->Growth())),
                                    std::fabs(std::log2(outer->Growth())));
    const bool undoes = (inner->Growth() > 1) != (outer->Growth() > 1);
    if (undoes && largest > 24 && !r.Permits(NumericClass::kChangesRange)) {
      return false;
    }
  }
  // A negation divides as well as it multiplies. In double, where rounding
  // costs no accuracy worth the name for the narrower types.
  const bool divides = (inner->divides || inner->Negates()) &&
                       (outer->divides || outer->Negates());
  double factor = inner->factor * outer->factor;
  if (!divides && outer->divides) factor = inner->factor / outer->factor;
  if (!divides && inner->divides) factor = outer->factor / inner->factor;
  std::optional<Literal> product = NormalScalar(type, factor);
  if (!product.has_value() || product->AsDouble(0) == 0 ||
      !PaysForUniform(r, id, outer->constant, outer->x, inner->constant)) {
    return false;
  }
  const InstructionId constant =
      MakeUniform(r, *std::move(product), r.dimensions_of(id));
  return r.Replace(
      id, MakeBinary(r, divides ? Opcode::kDivide : Opcode::kMultiply, inner->x,
                     constant));
}

}  // namespace hone::hlo::algsimp
