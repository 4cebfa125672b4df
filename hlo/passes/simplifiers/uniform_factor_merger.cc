// uniform-factor-merger: multiplies by one number where there were several.
//
//   (x * c) / d                         →  x * (c / d), for constants
//   ((x * s) * t) / u                   →  x * (s * t / u)
//   y = x * s,  (y * t) * y             →  (x * (s * t * s)) * x
//   ((x / s) * t) / (sqrt(y) + e)       →  (x * (t / s)) / (sqrt(y) + e)
//
// where s, t, u are broadcasts of scalars, of which the product is computed
// once. A factor is taken out of an operand with other users, too, if that
// costs no operation: when all users have done so, the operand is dead. For f32
// and f64. Tensors keep their order and are never moved across a division by a
// tensor, nor taken out of a product with a sharding or frontend attributes.
//
// Numeric class: reassociates for one tensor with constants that are all of
// magnitude at least 1, or all at most 1, and whose product is finite and
// normal: what overflows or underflows on the way does so in the end, up to
// rounding. All else changes the range: x * s * t may be finite where s * t is
// infinite (loss scales), zero times that is NaN, and a product of tensors may
// need its small factor early. Hone's own: upstream's algsimp merges constants.

#include <algorithm>
#include <cmath>
#include <compare>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/rewrite/carried_attributes.h"
#include "hlo/rewrite/makers.h"
#include "hlo/rewrite/values.h"

namespace hone::hlo {
namespace {

constexpr size_t kMaxFactors = 16;  // of one product

bool IsProduct(const Instruction& instruction) {
  return (instruction.opcode() == Opcode::kMultiply ||
          instruction.opcode() == Opcode::kDivide) &&
         !instruction.shape().IsScalar() &&
         (instruction.shape().element_type() == ElementType::kF32 ||
          instruction.shape().element_type() == ElementType::kF64);
}

// A scalar to the power of 1 or -1; the former sort in front.
struct ScalarFactor {
  bool inverse = false;
  InstructionId id = kNoInstruction;

  friend auto operator<=>(const ScalarFactor&, const ScalarFactor&) = default;
};

// constant * product of scalars * product of numerators / denominators.
struct Factors {
  double constant = 1;
  bool grows = false;    // some constant is above 1 in magnitude
  bool shrinks = false;  // or below
  std::vector<ScalarFactor> scalars;
  InstructionIds numerators;
  InstructionIds denominators;
  size_t uniform = 0;   // scalars and constants met
  size_t replaced = 0;  // operations that go for as many as there are tensors

  size_t tensors() const { return numerators.size() + denominators.size(); }
  size_t size() const { return uniform + tensors(); }
  NumericClass Class() const {
    return scalars.empty() && denominators.empty() && numerators.size() == 1 &&
                   !(grows && shrinks)
               ? NumericClass::kReassociates
               : NumericClass::kChangesRange;
  }
};

// Takes a product apart.
class Analysis {
 public:
  Analysis(const Rewriter& r, InstructionId root) : r_(r) {
    Visit(root, /*inverse=*/false);
  }

  // The factors of the rewritten product; nullopt to leave it alone.
  std::optional<Factors> Result() && {
    using Limits = std::numeric_limits<float>;
    const double magnitude = std::fabs(factors_.constant);
    if (factors_.uniform < 2 || factors_.size() > kMaxFactors ||
        factors_.replaced > kMaxFactors || factors_.tensors() == 0 ||
        factors_.tensors() > factors_.replaced ||
        !(magnitude >= Limits::min() && magnitude <= Limits::max()) ||
        !r_.Permits(factors_.Class())) {
      return std::nullopt;
    }
    std::sort(factors_.scalars.begin(), factors_.scalars.end());
    return std::move(factors_);
  }

 private:
  // A product that goes when the new one is there.
  void Visit(InstructionId id, bool inverse) {
    // Each brings a factor of its own.
    if (++factors_.replaced > kMaxFactors) return;
    const Instruction& product = r_[id];
    const bool divides = product.opcode() == Opcode::kDivide;
    const bool square = product.operand(0) == product.operand(1);
    AddOperand(product.operand(0), inverse, square ? kNoInstruction : id);
    AddOperand(product.operand(1), inverse != divides,
               square ? kNoInstruction : id);
  }

  // The operand goes as well if `user` is its only one.
  void AddOperand(InstructionId id, bool inverse, InstructionId user) {
    if (factors_.size() > kMaxFactors || AddScalar(id, inverse)) return;
    const Instruction& operand = r_[id];
    if (IsProduct(operand) && r_.MayReplace(id) && !IsAnnotated(operand)) {
      const bool divides_by_tensor =
          operand.opcode() == Opcode::kDivide &&
          ScalarSource(r_.computation(), operand.operand(1)) == kNoInstruction;
      if (r_.DiesWith(id, user) && !divides_by_tensor) {
        return Visit(id, inverse);
      }
      if (TakeScaled(id, inverse)) return;
    }
    (inverse ? factors_.denominators : factors_.numerators).push_back(id);
  }

  // x * s or x / s, which stays for its other users.
  bool TakeScaled(InstructionId id, bool inverse) {
    const bool divides = r_.Is(id, Opcode::kDivide);
    for (size_t i : {size_t{1}, size_t{0}}) {
      if (divides && i == 0) break;
      if (AddScalar(r_.operand(id, i), inverse != divides)) {
        AddOperand(r_.operand(id, 1 - i), inverse, kNoInstruction);
        return true;
      }
    }
    return false;
  }

  bool AddScalar(InstructionId id, bool inverse) {
    const InstructionId scalar = ScalarSource(r_.computation(), id);
    if (scalar == kNoInstruction) return false;
    ++factors_.uniform;
    if (const Literal* value = ConstantLiteral(r_.computation(), scalar)) {
      const double factor =
          inverse ? 1 / value->AsDouble(0) : value->AsDouble(0);
      factors_.constant *= factor;
      factors_.grows |= std::fabs(factor) > 1;
      factors_.shrinks |= std::fabs(factor) < 1;
    } else {
      factors_.scalars.push_back({inverse, scalar});
    }
    return true;
  }

  const Rewriter& r_;
  Factors factors_;
};

// Rewrites the products of one computation, with each coefficient once.
class Merger {
 public:
  explicit Merger(Rewriter& r) : r_(r) {}

  void Run() {
    // Users first, so that whole products come before their parts.
    std::vector<InstructionId> order = r_.computation().PostOrder();
    std::reverse(order.begin(), order.end());
    for (InstructionId id : order) {
      if (!r_.computation().Contains(id) || !IsProduct(r_[id]) ||
          !r_.MayReplace(id)) {
        continue;
      }
      if (const auto factors = Analysis(r_, id).Result()) {
        r_.Replace(id, Product(*factors, r_[id].shape()));
        r_.EndRewrite();
      }
    }
  }

 private:
  InstructionId Product(const Factors& factors, const Shape& shape) {
    const InstructionId scalar = Coefficient(factors, shape.element_type());
    InstructionId& broadcast =
        broadcasts_.try_emplace({scalar, shape.dimensions()}, kNoInstruction)
            .first->second;
    if (!r_.computation().Contains(broadcast)) {
      broadcast = MakeBroadcast(r_, scalar, shape.dimensions(), {});
    }
    InstructionId value = broadcast;
    for (size_t i = 0; i < factors.numerators.size(); ++i) {
      const InstructionId numerator = factors.numerators[i];
      value = i == 0 ? Times(numerator, value) : Times(value, numerator);
    }
    InstructionId divisor = kNoInstruction;
    for (InstructionId id : factors.denominators) divisor = Times(divisor, id);
    if (divisor == kNoInstruction) return value;
    return MakeBinary(r_, Opcode::kDivide, value, divisor);
  }

  // a * b, or b if there is no `a`.
  InstructionId Times(InstructionId a, InstructionId b) {
    return a == kNoInstruction ? b : MakeBinary(r_, Opcode::kMultiply, a, b);
  }

  InstructionId Coefficient(const Factors& factors, ElementType type) {
    InstructionId& coefficient =
        coefficients_
            .try_emplace({type, factors.constant, factors.scalars},
                         kNoInstruction)
            .first->second;
    if (r_.computation().Contains(coefficient)) return coefficient;
    InstructionId value = kNoInstruction;
    if (factors.constant != 1 || factors.scalars.empty() ||
        factors.scalars[0].inverse) {
      value = MakeConstant(r_, Literal::Scalar(type, factors.constant));
    }
    for (const auto& [inverse, id] : factors.scalars) {
      value = inverse ? MakeBinary(r_, Opcode::kDivide, value, id)
                      : Times(value, id);
    }
    return coefficient = value;
  }

  Rewriter& r_;
  // What was made for them, which is gone where the product was not replaced.
  std::map<std::tuple<ElementType, double, std::vector<ScalarFactor>>,
           InstructionId>
      coefficients_;
  std::map<std::pair<InstructionId, DimensionVector>, InstructionId>
      broadcasts_;
};

}  // namespace

std::unique_ptr<Pass> MakeUniformFactorMerger() {
  return MakeRulePass({.name = "uniform-factor-merger",
                       .numeric_class = NumericClass::kReassociates,
                       .opcodes = {Opcode::kDivide, Opcode::kMultiply}},
                      [](Rewriter& r) { Merger(r).Run(); });
}

}  // namespace hone::hlo
