#include "loops/lowering/rewrites/shorten_erfc.h"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"

#include "hlo/ir/literal.h"
#include "hlo/rewrite/dead_code.h"
#include "hlo/rewrite/matchers.h"
#include "loops/ir/erfc_form.h"

namespace hone::loops {
namespace {

namespace m = hlo::m;
using hlo::ElementType;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;

// The polynomials of the expansion, highest power first: (1 - erfc(x)) / x in
// x² for |x| < 1, and erfc(x)·exp(x²)·|x| in 1/x² for |x| < 2 and above.
constexpr float kBelowOne[] = {
    7.85386146e-05F, -0.000801019371F, 0.00518832775F, -0.0268538129F,
    0.112835854F,    -0.37612626F,     1.12837911F};
constexpr float kBelowTwo[] = {0.0232682F,    -0.138703942F, 0.368742466F,
                               -0.582473278F, 0.621000469F,  -0.494451523F,
                               0.340488F,     -0.274112701F, 0.563825965F};
constexpr float kAbove[] = {-10.477664F,   12.9772F,     -7.49551868F,
                            2.92101908F,   -1.01526523F, 0.42184633F,
                            -0.282076746F, 0.564189494F};
// Below this logarithm, the expansion gives 0.
constexpr float kLeastExponent = -88.7228394F;

double Wide(float value) { return static_cast<double>(value); }

// Finds the expansion in one computation.
class ErfcMatcher {
 public:
  explicit ErfcMatcher(const hlo::Computation& computation)
      : computation_(computation) {}

  // Returns the argument of the erfc whose expansion ends with `id`;
  // kNoInstruction if there is none.
  InstructionId Match(InstructionId id) {
    InstructionId is_small;
    InstructionId small;
    InstructionId large;
    InstructionId magnitude;
    if (computation_[id].shape().element_type() != ElementType::kF32 ||
        !Matches(id,
                 m::Select(m::Op(&is_small), m::Op(&small), m::Op(&large))) ||
        !IsLess(is_small, &magnitude, 1.0F) ||
        !Matches(magnitude, m::Abs(m::Op(&x_))) || !IsSmall(small) ||
        !IsLarge(large)) {
      return hlo::kNoInstruction;
    }
    return x_;
  }

 private:
  template <typename Pattern>
  bool Matches(InstructionId id, const Pattern& pattern) const {
    return pattern.Matches(computation_, id);
  }

  // Returns true if `id` is `lhs` < `bound`.
  bool IsLess(InstructionId id, InstructionId* lhs, float bound) const {
    return Matches(id, m::Compare(m::Op(lhs), m::Uniform(Wide(bound)))) &&
           computation_[id].attributes().direction ==
               hlo::ComparisonDirection::kLt;
  }

  bool IsSquare(InstructionId id) const {
    return Matches(id, m::Multiply(m::Same(x_), m::Same(x_)));
  }
  bool IsMagnitude(InstructionId id) const {
    return Matches(id, m::Abs(m::Same(x_)));
  }

  // Returns true if `id` is a polynomial by Horner's rule, and captures its
  // variable.
  bool IsPolynomial(InstructionId id, absl::Span<const float> coefficients,
                    InstructionId* variable) const {
    InstructionId a;
    InstructionId b;
    if (!Matches(id, m::AddAnyOrder(m::Multiply(m::Op(&a), m::Op(&b)),
                                    m::Uniform(Wide(coefficients.back()))))) {
      return false;
    }
    // The factor that is no sum.
    *variable = Matches(a, m::Add()) ? b : a;
    for (size_t i = coefficients.size() - 1; i > 1; --i) {
      if (!Matches(id, m::AddAnyOrder(
                           m::MultiplyAnyOrder(m::Op(&id), m::Same(*variable)),
                           m::Uniform(Wide(coefficients[i]))))) {
        return false;
      }
    }
    return Matches(id, m::AddAnyOrder(m::MultiplyAnyOrder(
                                          m::Same(*variable),
                                          m::Uniform(Wide(coefficients[0]))),
                                      m::Uniform(Wide(coefficients[1]))));
  }

  // 1 - x·P(x²)
  bool IsSmall(InstructionId id) const {
    InstructionId product;
    InstructionId polynomial;
    InstructionId variable;
    return Matches(id, m::Subtract(m::Uniform(1), m::Op(&product))) &&
           Matches(product,
                   m::MultiplyAnyOrder(m::Same(x_), m::Op(&polynomial))) &&
           IsPolynomial(polynomial, kBelowOne, &variable) && IsSquare(variable);
  }

  // x < 0 ? 2 - y : y, where y is 0 for large x².
  bool IsLarge(InstructionId id) const {
    InstructionId is_negative;
    InstructionId lhs;
    InstructionId reflected;
    InstructionId y;
    InstructionId is_zero;
    InstructionId exponent;
    InstructionId square;
    InstructionId value;
    return Matches(id, m::Select(m::Op(&is_negative), m::Op(&reflected),
                                 m::Op(&y))) &&
           IsLess(is_negative, &lhs, 0.0F) && lhs == x_ &&
           Matches(reflected, m::Subtract(m::Uniform(2), m::Same(y))) &&
           Matches(y,
                   m::Select(m::Op(&is_zero), m::Uniform(0), m::Op(&value))) &&
           IsLess(is_zero, &exponent, kLeastExponent) &&
           Matches(exponent, m::Negate(m::Op(&square))) && IsSquare(square) &&
           IsProduct(value, exponent);
  }

  // exp(exponent)·(1/|x|)·(|x| < 2 ? P(1/x²) : R(1/x²))
  bool IsProduct(InstructionId id, InstructionId exponent) const {
    InstructionId scale;
    InstructionId choice;
    InstructionId is_below_two;
    InstructionId magnitude;
    InstructionId below;
    InstructionId above;
    InstructionId inverse;
    InstructionId same_inverse;
    InstructionId square;
    return Matches(id, m::MultiplyAnyOrder(
                           m::Op(&scale),
                           m::Select(&choice, m::Op(&is_below_two),
                                     m::Op(&below), m::Op(&above)))) &&
           Matches(scale, m::MultiplyAnyOrder(
                              m::Exponential(m::Same(exponent)),
                              m::Divide(m::Uniform(1), m::Op(&magnitude)))) &&
           IsMagnitude(magnitude) && IsLess(is_below_two, &magnitude, 2.0F) &&
           IsMagnitude(magnitude) && IsPolynomial(below, kBelowTwo, &inverse) &&
           IsPolynomial(above, kAbove, &same_inverse) &&
           inverse == same_inverse &&
           Matches(inverse, m::Divide(m::Uniform(1), m::Op(&square))) &&
           IsSquare(square);
  }

  const hlo::Computation& computation_;
  InstructionId x_ = hlo::kNoInstruction;
};

// Builds the shorter form (WriteErfc) for a scalar.
class RegionBuilder {
 public:
  hlo::Computation Build() {
    region_.set_root(WriteErfc(
        *this, region_.AddInstruction(Instruction::Parameter(0, scalar_))));
    return std::move(region_);
  }

  InstructionId Apply(Opcode opcode,
                      const std::vector<InstructionId>& operands) {
    return region_.AddInstruction(Instruction(opcode, scalar_, operands));
  }

  InstructionId Constant(float value) {
    hlo::Literal literal(scalar_);
    literal.SetDouble(0, Wide(value));
    return region_.AddInstruction(Instruction::Constant(std::move(literal)));
  }

  InstructionId Less(InstructionId a, InstructionId b) {
    auto attributes = std::make_shared<hlo::Attributes>();
    attributes->direction = hlo::ComparisonDirection::kLt;
    return region_.AddInstruction(
        Instruction(Opcode::kCompare, hlo::Shape::Scalar(ElementType::kPred),
                    {a, b}, std::move(attributes)));
  }

 private:
  const hlo::ShapePtr scalar_ = hlo::Shape::Scalar(ElementType::kF32);
  hlo::Computation region_{"erfc"};
};

}  // namespace

void ShortenErfc(hlo::Module& module) {
  hlo::ComputationId region = hlo::kNoComputation;
  for (hlo::ComputationId id : module.ComputationIds()) {
    // Each with its argument.
    std::vector<std::pair<InstructionId, InstructionId>> found;
    const hlo::Computation& computation = module.computation(id);
    for (const Instruction& i : computation.instructions()) {
      const InstructionId x = ErfcMatcher(computation).Match(i.id());
      if (x != hlo::kNoInstruction) found.emplace_back(i.id(), x);
    }
    if (found.empty()) continue;
    if (region == hlo::kNoComputation) {
      region = module.AddComputation(RegionBuilder().Build());
    }
    for (const auto& [root, x] : found) {
      hlo::Computation& changed = module.mutable_computation(id);
      auto attributes = std::make_shared<hlo::Attributes>();
      for (int64_t d = 0; d < changed[root].shape().rank(); ++d) {
        attributes->dimensions.push_back(d);
      }
      Instruction map(Opcode::kMap, changed[root].shape_ptr(), {x},
                      std::move(attributes));
      map.set_called({region});
      map.set_name(changed[root].name());
      const InstructionId result = changed.AddInstruction(std::move(map));
      changed.ReplaceAllUses(root, result);
      changed.mutable_instruction(root).set_name("");
    }
    hlo::RemoveDeadInstructions(module, id);
  }
}

}  // namespace hone::loops
