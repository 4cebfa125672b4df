// uniform-factor-merger: multiplies by one number where there were several.
//
//   ((x * s) * t) / u                   →  x * (s * t / u)
//   y = x * s,  (y * t) * y             →  (x * (s * t * s)) * x
//   ((x / s) * t) / (sqrt(y) + e)       →  (x * (t / s)) / (sqrt(y) + e)
//
// where s, t, u are broadcasts of scalars, of which the product is computed
// once. A factor is taken out of an operand with other users, too, if that
// costs no operation: when all users have done so, the operand is dead. The
// updates of optimizers like Adam are full of such factors.
//
// Legal for f32 and f64 up to rounding, and as long as neither the product of
// the scalars nor an operand without its factor overflows or underflows; a
// product of constants that does is left alone. Tensors keep their order and
// are never moved across a division by a tensor. Hone's own: upstream's algsimp
// merges constants only.

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
#include "hlo/rewrite/builder.h"

namespace hone::hlo {
namespace {

// Factors of one product at most.
constexpr size_t kMaxFactors = 16;

bool IsProduct(const Instruction& instruction) {
  return instruction.is_live() &&
         (instruction.opcode() == Opcode::kMultiply ||
          instruction.opcode() == Opcode::kDivide) &&
         !instruction.shape().IsScalar() &&
         (instruction.shape().element_type() == ElementType::kF32 ||
          instruction.shape().element_type() == ElementType::kF64);
}

// A scalar to the power of 1 or -1.
struct ScalarFactor {
  InstructionId id = kNoInstruction;
  bool inverse = false;

  friend auto operator<=>(const ScalarFactor&, const ScalarFactor&) = default;
};

// constant * product of scalars * product of numerators / denominators.
struct Factors {
  double constant = 1;
  std::vector<ScalarFactor> scalars;
  InstructionIds numerators;
  InstructionIds denominators;
  // Scalars and constants met.
  size_t uniform = 0;
  // Operations that a new product replaces.
  size_t replaced = 0;

  size_t tensors() const { return numerators.size() + denominators.size(); }
  size_t size() const { return uniform + tensors(); }
  // Operations of the new product, at the size of the whole.
  size_t cost() const { return tensors(); }
};

// Takes a product apart.
class Analysis {
 public:
  Analysis(const Computation& computation, InstructionId root)
      : computation_(computation) {
    Visit(root, /*inverse=*/false);
  }

  // What to rewrite the product as; nullopt if it is better left alone.
  std::optional<Factors> Result() && {
    constexpr double kMin = std::numeric_limits<float>::min();
    constexpr double kMax = std::numeric_limits<float>::max();
    const double magnitude = std::fabs(factors_.constant);
    if (factors_.uniform < 2 || factors_.size() > kMaxFactors ||
        factors_.tensors() == 0 || factors_.cost() > factors_.replaced ||
        !(magnitude >= kMin && magnitude <= kMax)) {
      return std::nullopt;
    }
    std::sort(factors_.scalars.begin(), factors_.scalars.end());
    return std::move(factors_);
  }

 private:
  // A product that goes when the new one is there.
  void Visit(InstructionId id, bool inverse) {
    ++factors_.replaced;
    const Instruction& product = computation_[id];
    const bool divides = product.opcode() == Opcode::kDivide;
    const bool square = product.operand(0) == product.operand(1);
    AddOperand(product.operand(0), inverse, !square);
    AddOperand(product.operand(1), inverse != divides, !square);
  }

  // `only`: nothing but this product uses it, if it has one user.
  void AddOperand(InstructionId id, bool inverse, bool only) {
    if (factors_.size() > kMaxFactors || AddScalar(id, inverse)) return;
    const Instruction& operand = computation_[id];
    if (IsProduct(operand) && !computation_.HasControlDependency(id)) {
      const bool divides_by_tensor =
          operand.opcode() == Opcode::kDivide &&
          ScalarSource(computation_, operand.operand(1)) == kNoInstruction;
      if (only && operand.users().size() == 1 && id != computation_.root() &&
          !divides_by_tensor) {
        return Visit(id, inverse);
      }
      if (TakeScaled(operand, inverse)) return;
    }
    (inverse ? factors_.denominators : factors_.numerators).push_back(id);
  }

  // x * s or x / s, which stays for its other users.
  bool TakeScaled(const Instruction& scaled, bool inverse) {
    const bool divides = scaled.opcode() == Opcode::kDivide;
    for (size_t i : {size_t{1}, size_t{0}}) {
      if (divides && i == 0) break;
      if (AddScalar(scaled.operand(i), inverse != divides)) {
        AddOperand(scaled.operand(1 - i), inverse, /*only=*/false);
        return true;
      }
    }
    return false;
  }

  bool AddScalar(InstructionId id, bool inverse) {
    const InstructionId scalar = ScalarSource(computation_, id);
    if (scalar == kNoInstruction) return false;
    ++factors_.uniform;
    if (const Literal* value = ConstantLiteral(computation_, scalar)) {
      const double constant = value->AsDouble(0);
      factors_.constant *= inverse ? 1 / constant : constant;
    } else {
      factors_.scalars.push_back({scalar, inverse});
    }
    return true;
  }

  const Computation& computation_;
  Factors factors_;
};

std::optional<Factors> Analyse(const Computation& computation,
                               InstructionId id) {
  if (!IsProduct(computation[id]) || computation.HasControlDependency(id)) {
    return std::nullopt;
  }
  return Analysis(computation, id).Result();
}

// Writes the products of one computation anew. Equal coefficients are computed
// once.
class Merger {
 public:
  explicit Merger(Computation& computation) : computation_(computation) {}

  void Replace(InstructionId id, const Factors& factors) {
    const ShapePtr shape = computation_[id].shape_ptr();
    InstructionId value = Broadcast(Coefficient(factors, shape->element_type()),
                                    shape->dimensions());
    for (size_t i = 0; i < factors.numerators.size(); ++i) {
      const InstructionId numerator = factors.numerators[i];
      value = i == 0 ? Multiply(numerator, value) : Multiply(value, numerator);
    }
    if (!factors.denominators.empty()) {
      InstructionId divisor = factors.denominators[0];
      for (size_t i = 1; i < factors.denominators.size(); ++i) {
        divisor = Multiply(divisor, factors.denominators[i]);
      }
      value = computation_.AddInstruction(
          MakeBinary(Opcode::kDivide, computation_, value, divisor));
    }
    computation_.ReplaceAllUses(id, value);
    computation_.RemoveWithUnusedOperands(id);
  }

 private:
  using CoefficientKey =
      std::tuple<ElementType, double, std::vector<ScalarFactor>>;

  InstructionId Multiply(InstructionId a, InstructionId b) {
    return computation_.AddInstruction(
        MakeBinary(Opcode::kMultiply, computation_, a, b));
  }

  InstructionId Coefficient(const Factors& factors, ElementType type) {
    const auto [memo, is_new] = coefficients_.try_emplace(
        {type, factors.constant, factors.scalars}, kNoInstruction);
    if (!is_new) return memo->second;
    InstructionId value = kNoInstruction;
    const bool any_product =
        std::any_of(factors.scalars.begin(), factors.scalars.end(),
                    [](const ScalarFactor& f) { return !f.inverse; });
    if (factors.constant != 1 || !any_product) {
      value = computation_.AddInstruction(
          Instruction::Constant(Literal::Scalar(type, factors.constant)));
    }
    for (const bool inverse : {false, true}) {
      for (const ScalarFactor& f : factors.scalars) {
        if (f.inverse != inverse) continue;
        value = value == kNoInstruction
                    ? f.id
                    : computation_.AddInstruction(MakeBinary(
                          inverse ? Opcode::kDivide : Opcode::kMultiply,
                          computation_, value, f.id));
      }
    }
    return memo->second = value;
  }

  InstructionId Broadcast(InstructionId scalar,
                          const DimensionVector& dimensions) {
    const auto [memo, is_new] =
        broadcasts_.try_emplace({scalar, dimensions}, kNoInstruction);
    if (is_new) {
      memo->second = computation_.AddInstruction(
          MakeBroadcast(computation_, scalar, dimensions, {}));
    }
    return memo->second;
  }

  Computation& computation_;
  std::map<CoefficientKey, InstructionId> coefficients_;
  std::map<std::pair<InstructionId, DimensionVector>, InstructionId>
      broadcasts_;
};

class UniformFactorMerger final : public Pass {
 public:
  absl::string_view name() const override { return "uniform-factor-merger"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    if (module.is_scheduled()) return false;
    bool changed = false;
    for (ComputationId c = 0; c < module.computation_slots(); ++c) {
      if (!module.has_computation(c)) continue;
      const Computation& shared = module.computation(c);
      bool any = false;
      for (InstructionId id = 0; id < shared.slot_count() && !any; ++id) {
        any = Analyse(shared, id).has_value();
      }
      if (!any) continue;
      Computation& computation = module.mutable_computation(c);
      Merger merger(computation);
      // Users first, so that whole products come before their parts.
      std::vector<InstructionId> order = computation.PostOrder();
      std::reverse(order.begin(), order.end());
      for (InstructionId id : order) {
        if (const auto factors = Analyse(computation, id)) {
          merger.Replace(id, *factors);
        }
      }
      changed = true;
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeUniformFactorMerger() {
  return std::make_unique<UniformFactorMerger>();
}

}  // namespace hone::hlo
