#include <cmath>
#include <optional>
#include <utility>

#include "hlo/passes/algsimp/rules.h"
#include "hlo/passes/algsimp/scalars.h"

namespace hone::hlo::algsimp {
namespace {

bool IsFloatArray(const Rewriter& r, InstructionId id) {
  return IsFloat(r.shape(id).element_type());
}
bool IsIntegerArray(const Rewriter& r, InstructionId id) {
  return IsIntegral(r.shape(id).element_type());
}

bool IsUniformValue(const Rewriter& r, InstructionId id, double value) {
  return IsUniform(r.computation(), id, value);
}

bool ReplaceWithZero(Rewriter& r, InstructionId id) {
  return r.Replace(
      id, MakeUniform(r, Literal::ScalarInt(r.shape(id).element_type(), 0),
                      r.dimensions_of(id)));
}

// Whether adding a new uniform constant of id's shape in place of constants
// that `freed` instructions hold, and `removed` instructions besides, does not
// raise the count.
bool PaysForUniform(const Rewriter& r, InstructionId id, int freed,
                    int removed) {
  return freed + removed >= (r.shape(id).IsScalar() ? 1 : 2);
}

// An instruction that is x + constant or x - constant.
struct Offset {
  InstructionId x;
  InstructionId constant_operand;
  const Literal* constant;
  bool subtracts;
};

std::optional<Offset> MatchOffset(const Rewriter& r, InstructionId id) {
  const bool subtracts = r.Is(id, Opcode::kSubtract);
  if (!subtracts && !r.Is(id, Opcode::kAdd)) return std::nullopt;
  for (size_t i = subtracts ? 1 : 0; i < 2; ++i) {
    const InstructionId constant = r.operand(id, i);
    const Literal* literal = UniformLiteral(r.computation(), constant);
    if (literal != nullptr) {
      return Offset{r.operand(id, 1 - i), constant, literal, subtracts};
    }
  }
  return std::nullopt;
}

// (x ± c1) ± c2 → x ± c, c = c1 ± c2. When the inner one has no other user; for
// floats only when both offsets go the same way, as (x + c) - c may be there
// to round x.
bool MergeOffsets(Rewriter& r, InstructionId id) {
  const std::optional<Offset> outer = MatchOffset(r, id);
  if (!outer.has_value() || !r.DiesWith(outer->x, id)) return false;
  const std::optional<Offset> inner = MatchOffset(r, outer->x);
  if (!inner.has_value()) return false;
  // ±c1 ± c2 = ±(c1 ± c2).
  std::optional<Literal> sum = FoldScalars(
      inner->subtracts == outer->subtracts ? Opcode::kAdd : Opcode::kSubtract,
      *inner->constant, *outer->constant);
  if (!sum.has_value()) return false;
  if (IsFloatArray(r, id) &&
      std::fabs(sum->AsDouble(0)) <
          std::fabs(inner->constant->AsDouble(0)) +
              std::fabs(outer->constant->AsDouble(0)) * 0.5) {
    return false;
  }
  const int freed = r.FreedWith(inner->constant_operand, outer->x) +
                    r.FreedWith(outer->constant_operand, id);
  if (!PaysForUniform(r, id, freed, 1)) return false;
  const InstructionId x = inner->x;
  const Opcode opcode = inner->subtracts ? Opcode::kSubtract : Opcode::kAdd;
  const InstructionId constant =
      MakeUniform(r, *std::move(sum), r.dimensions_of(id));
  return r.Replace(id, MakeBinary(r, opcode, x, constant));
}

// x + scatter(0, indices, updates) → scatter(x, indices, updates): a scatter
// that adds, has one operand and no other user.
bool AddIntoScatter(Rewriter& r, InstructionId id, InstructionId x,
                    InstructionId scatter) {
  if (!r.Is(scatter, Opcode::kScatter) || r[scatter].operand_count() != 3 ||
      !r.DiesWith(scatter, id) || !r[scatter].attributes().others.empty() ||
      !IsUniformValue(r, r.operand(scatter, 0), 0) ||
      ReductionOpcode(r.module().computation(r[scatter].called()[0])) !=
          Opcode::kAdd) {
    return false;
  }
  Instruction sum(Opcode::kScatter, r[id].shape_ptr(),
                  {x, r.operand(scatter, 1), r.operand(scatter, 2)},
                  r[scatter].attributes_ptr());
  sum.set_called(r[scatter].called());
  return r.ReplaceWith(id, std::move(sum));
}

// An instruction that is x · constant, x / constant or -x.
struct Scale {
  InstructionId x;
  // kNoInstruction for a negation.
  InstructionId constant_operand;
  double constant;
  bool divides;

  double factor() const { return divides ? 1 / constant : constant; }
};

std::optional<Scale> MatchScale(const Rewriter& r, InstructionId id) {
  if (r.Is(id, Opcode::kNegate)) {
    return Scale{r.operand(id, 0), kNoInstruction, -1, false};
  }
  const bool divides = r.Is(id, Opcode::kDivide);
  if (!divides && !r.Is(id, Opcode::kMultiply)) return std::nullopt;
  for (size_t i = divides ? 1 : 0; i < 2; ++i) {
    const InstructionId constant = r.operand(id, i);
    const Literal* literal = UniformLiteral(r.computation(), constant);
    if (literal != nullptr) {
      return Scale{r.operand(id, 1 - i), constant, literal->AsDouble(0),
                   divides};
    }
  }
  return std::nullopt;
}

// (x · c1) · c2 → x · (c1 · c2), and the like with / and negate: a chain of two
// scalings of floats becomes one multiplication, or one division if both
// divide. When the inner one has no other user. As upstream, we let go that an
// intermediate value may overflow or underflow where the result does not.
bool MergeScales(Rewriter& r, InstructionId id) {
  if (!IsFloatArray(r, id)) return false;
  const std::optional<Scale> outer = MatchScale(r, id);
  if (!outer.has_value() || !r.DiesWith(outer->x, id)) return false;
  const std::optional<Scale> inner = MatchScale(r, outer->x);
  if (!inner.has_value() || (inner->constant_operand == kNoInstruction &&
                             outer->constant_operand == kNoInstruction)) {
    return false;
  }
  const ElementType type = r.shape(id).element_type();
  // A negation divides as well as it multiplies.
  const auto may_divide = [](const Scale& s) {
    return s.divides || s.constant_operand == kNoInstruction;
  };
  const bool divide = may_divide(*inner) && may_divide(*outer);
  const double inner_factor = divide ? inner->constant : inner->factor();
  const double outer_factor = divide ? outer->constant : outer->factor();
  // In double, where a reciprocal costs no accuracy worth the name for the
  // narrower types.
  std::optional<Literal> product =
      FoldScalars(Opcode::kMultiply, Literal::Scalar(type, 1),
                  Literal::Scalar(type, inner_factor * outer_factor));
  if (!product.has_value() || product->AsDouble(0) == 0) return false;
  int freed = 0;
  if (inner->constant_operand != kNoInstruction) {
    freed += r.FreedWith(inner->constant_operand, outer->x);
  }
  if (outer->constant_operand != kNoInstruction) {
    freed += r.FreedWith(outer->constant_operand, id);
  }
  if (!PaysForUniform(r, id, freed, 1)) return false;
  const InstructionId x = inner->x;
  const InstructionId constant =
      MakeUniform(r, *std::move(product), r.dimensions_of(id));
  return r.Replace(
      id,
      MakeBinary(r, divide ? Opcode::kDivide : Opcode::kMultiply, x, constant));
}

// A negation whose only user is `user`.
bool IsDyingNegate(const Rewriter& r, InstructionId id, InstructionId user) {
  return r.Is(id, Opcode::kNegate) && r.DiesWith(id, user);
}

// (-x) · (-y) → x · y; (-x) · y → -(x · y). The same for division. Signs move
// towards the root, where additions and subtractions absorb them.
bool HoistNegation(Rewriter& r, InstructionId id) {
  const InstructionId a = r.operand(id, 0);
  const InstructionId b = r.operand(id, 1);
  if (a == b) return false;
  const bool negate_a = IsDyingNegate(r, a, id);
  const bool negate_b = IsDyingNegate(r, b, id);
  if (!negate_a && !negate_b) return false;
  const Opcode opcode = r[id].opcode();
  const InstructionId x = negate_a ? r.operand(a, 0) : a;
  const InstructionId y = negate_b ? r.operand(b, 0) : b;
  const InstructionId product = MakeBinary(r, opcode, x, y);
  if (negate_a && negate_b) return r.Replace(id, product);
  return r.Replace(id, MakeUnary(r, Opcode::kNegate, product));
}

}  // namespace

// x + 0 → x
// x + (-y) → x - y, (-y) + x → x - y: when the negation has no other user.
// AddIntoScatter, MergeOffsets.
// Adding a zero turns -0 into +0; as upstream, we let that go.
bool SimplifyAdd(Rewriter& r, InstructionId id) {
  for (size_t i = 0; i < 2; ++i) {
    const InstructionId x = r.operand(id, i);
    const InstructionId y = r.operand(id, 1 - i);
    if (IsUniformValue(r, y, 0)) return r.Replace(id, x);
    if (IsDyingNegate(r, y, id)) {
      return r.Replace(id,
                       MakeBinary(r, Opcode::kSubtract, x, r.operand(y, 0)));
    }
    if (AddIntoScatter(r, id, x, y)) return true;
  }
  return MergeOffsets(r, id);
}

// x - 0 → x
// x - x → 0: integers only, an infinity gives NaN.
// 0 - x → -x: integers only, for the sign of zero.
// x - (-y) → x + y: when the negation has no other user.
// MergeOffsets.
bool SimplifySubtract(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  const InstructionId y = r.operand(id, 1);
  if (IsUniformValue(r, y, 0)) return r.Replace(id, x);
  if (IsIntegerArray(r, id)) {
    if (x == y) return ReplaceWithZero(r, id);
    if (IsUniformValue(r, x, 0)) {
      return r.Replace(id, MakeUnary(r, Opcode::kNegate, y));
    }
  }
  if (IsDyingNegate(r, y, id)) {
    return r.Replace(id, MakeBinary(r, Opcode::kAdd, x, r.operand(y, 0)));
  }
  return MergeOffsets(r, id);
}

// x · 1 → x
// x · 0 → 0: integers only, NaN and infinities stay NaN.
// x · (-1) → -x
// MergeScales, HoistNegation.
bool SimplifyMultiply(Rewriter& r, InstructionId id) {
  for (size_t i = 0; i < 2; ++i) {
    const InstructionId x = r.operand(id, i);
    const InstructionId y = r.operand(id, 1 - i);
    const Literal* literal = UniformLiteral(r.computation(), y);
    if (literal == nullptr) continue;
    if (IsUniformValue(r, y, 1)) return r.Replace(id, x);
    if (IsIntegerArray(r, id) && IsUniformValue(r, y, 0)) {
      return ReplaceWithZero(r, id);
    }
    if (IsUniformValue(r, y, -1)) {
      return r.Replace(id, MakeUnary(r, Opcode::kNegate, x));
    }
  }
  return MergeScales(r, id) || HoistNegation(r, id);
}

// x / 1 → x
// 1 / sqrt(x) → rsqrt(x), 1 / rsqrt(x) → sqrt(x)
// MergeScales, HoistNegation: floats only.
bool SimplifyDivide(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  const InstructionId y = r.operand(id, 1);
  if (IsUniformValue(r, y, 1)) return r.Replace(id, x);
  if (!IsFloatArray(r, id)) return false;
  if (IsUniformValue(r, x, 1)) {
    if (r.Is(y, Opcode::kSqrt) || r.Is(y, Opcode::kRsqrt)) {
      const Opcode inverse =
          r.Is(y, Opcode::kSqrt) ? Opcode::kRsqrt : Opcode::kSqrt;
      return r.Replace(id, MakeUnary(r, inverse, r.operand(y, 0)));
    }
  }
  return MergeScales(r, id) || HoistNegation(r, id);
}

// x % 1 → 0 of integers; (x % c) % c → x % c
bool SimplifyRemainder(Rewriter& r, InstructionId id) {
  if (!IsIntegerArray(r, id)) return false;
  const InstructionId x = r.operand(id, 0);
  const InstructionId y = r.operand(id, 1);
  if (IsUniformValue(r, y, 1)) return ReplaceWithZero(r, id);
  if (r.Is(x, Opcode::kRemainder) && r.operand(x, 1) == y) {
    return r.Replace(id, x);
  }
  return false;
}

// -(-x) → x
// -(x - y) → y - x: when the difference has no other user. The sign of a zero
// difference changes; as with x + 0, we let that go.
// MergeScales.
bool SimplifyNegate(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  if (r.Is(x, Opcode::kNegate)) return r.Replace(id, r.operand(x, 0));
  if (r.Is(x, Opcode::kSubtract) && r.DiesWith(x, id)) {
    return r.Replace(
        id, MakeBinary(r, Opcode::kSubtract, r.operand(x, 1), r.operand(x, 0)));
  }
  return MergeScales(r, id);
}

}  // namespace hone::hlo::algsimp
