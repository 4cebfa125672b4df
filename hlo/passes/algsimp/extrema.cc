// Maximum, minimum and clamp. All exact, NaN included: each of them is NaN
// where an operand is.
//
//   max(x, lowest) → x, min(x, highest) → x, max(x, x) → x
//   max(max(x, c1), c2) → max(x, max(c1, c2)), likewise min: the inner one has
//     no other user; c1 and c2 are no NaN
//   min(max(x, low), high) → clamp(low, x, high), max(min(x, high), low) → the
//     same: constants with low <= high, and the inner one has no other user
//   clamp(broadcast(low), x, broadcast(high)) → clamp(low, x, high)    scalars
//
// clamp(lowest, x, high) → min(x, high) is left alone: it saves nothing.

#include <optional>

#include "hlo/passes/algsimp/rules.h"
#include "hlo/passes/algsimp/scalars.h"

namespace hone::hlo::algsimp {
namespace {

// A maximum or minimum of `x` and a uniform constant.
struct Bounded {
  InstructionId x;
  InstructionId bound;
  const Literal* literal;
};

std::optional<Bounded> MatchBounded(const Rewriter& r, InstructionId id) {
  if (!r.Is(id, Opcode::kMaximum) && !r.Is(id, Opcode::kMinimum)) {
    return std::nullopt;
  }
  for (size_t i = 0; i < 2; ++i) {
    const Literal* literal;
    const InstructionId bound = r.operand(id, i);
    if (r.Match(bound, m::Uniform(&literal))) {
      return Bounded{r.operand(id, 1 - i), bound, literal};
    }
  }
  return std::nullopt;
}

}  // namespace

bool SimplifyExtremum(Rewriter& r, InstructionId id) {
  const Opcode opcode = r[id].opcode();
  if (r.operand(id, 0) == r.operand(id, 1)) {
    return r.Replace(id, r.operand(id, 0));
  }
  const std::optional<Bounded> outer = MatchBounded(r, id);
  if (!outer.has_value()) return false;
  if (IsReductionIdentity(opcode, *outer->literal)) {
    return r.Replace(id, outer->x);
  }
  const std::optional<Bounded> inner = MatchBounded(r, outer->x);
  if (!inner.has_value() || !MayAbsorb(r, outer->x, id)) return false;
  const std::optional<bool> inner_is_less =
      IsAtMost(*inner->literal, *outer->literal);
  if (!inner_is_less.has_value()) return false;
  const bool is_maximum = opcode == Opcode::kMaximum;
  if (r.Is(outer->x, opcode)) {
    // The merged bound is one of the two: no new constant.
    const InstructionId kept =
        *inner_is_less == is_maximum ? outer->bound : inner->bound;
    return r.Replace(id, MakeBinary(r, opcode, inner->x, kept));
  }
  const InstructionId low = is_maximum ? outer->bound : inner->bound;
  const InstructionId high = is_maximum ? inner->bound : outer->bound;
  const bool ordered =
      is_maximum ? IsAtMost(*outer->literal, *inner->literal).value_or(false)
                 : *inner_is_less;
  return ordered &&
         r.Replace(id, Make(r, Opcode::kClamp, {low, inner->x, high}));
}

bool SimplifyClamp(Rewriter& r, InstructionId id) {
  if (r.shape(id).IsScalar()) return false;
  InstructionIds operands = r[id].operands();
  for (size_t i : {size_t{0}, size_t{2}}) {
    operands[i] = ScalarSource(r.computation(), operands[i]);
    if (operands[i] == kNoInstruction) return false;
  }
  return operands != r[id].operands() &&
         r.Replace(id, Make(r, Opcode::kClamp, operands));
}

}  // namespace hone::hlo::algsimp
