#include "loops/lowering/complex/complex_arithmetic.h"

#include <limits>
#include <memory>
#include <utility>

namespace hone::loops {

using hlo::ComparisonDirection;
using hlo::ElementType;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;
using hlo::Shape;
using hlo::ShapePtr;

InstructionId ComplexArithmetic::AddAs(
    ShapePtr shape, Opcode opcode, std::initializer_list<Id> operands,
    std::shared_ptr<const hlo::Attributes> attributes) {
  Instruction instruction(opcode, std::move(shape), operands,
                          std::move(attributes));
  instruction.set_name(name_);
  return computation_.AddInstruction(std::move(instruction));
}

InstructionId ComplexArithmetic::Add(Opcode opcode,
                                     std::initializer_list<Id> operands) {
  return AddAs(shape_, opcode, operands);
}

InstructionId ComplexArithmetic::Constant(double value) {
  const Id scalar = computation_.AddInstruction(Instruction::Constant(
      hlo::Literal::Scalar(shape_->element_type(), value)));
  return Add(Opcode::kBroadcast, {scalar});
}

InstructionId ComplexArithmetic::Compare(ComparisonDirection direction, Id a,
                                         Id b) {
  auto attributes = std::make_shared<hlo::Attributes>();
  attributes->direction = direction;
  return AddAs(
      hlo::WithElementType(computation_[a].shape(), ElementType::kPred),
      Opcode::kCompare, {a, b}, std::move(attributes));
}

InstructionId ComplexArithmetic::WithSign(Id magnitude, Id sign) {
  const ElementType integer = shape_->element_type() == ElementType::kF64
                                  ? ElementType::kS64
                                  : ElementType::kS32;
  const Id bits = AddAs(hlo::WithElementType(*shape_, integer),
                        Opcode::kBitcastConvert, {sign});
  const Id scalar = computation_.AddInstruction(
      Instruction::Constant(hlo::Literal::ScalarInt(integer, 0)));
  const Id zero = AddAs(hlo::WithElementType(*shape_, integer),
                        Opcode::kBroadcast, {scalar});
  return Select(Compare(ComparisonDirection::kLt, bits, zero),
                Negate(magnitude), magnitude);
}

InstructionId ComplexArithmetic::Equal(ComplexParts a, ComplexParts b,
                                       bool negated) {
  const auto direction =
      negated ? ComparisonDirection::kNe : ComparisonDirection::kEq;
  const Id re = Compare(direction, a.re, b.re);
  const Id im = Compare(direction, a.im, b.im);
  return AddAs(computation_[re].shape_ptr(),
               negated ? Opcode::kOr : Opcode::kAnd, {re, im});
}

// greatest·√(1 + (least/greatest)²), which does not overflow. It is NaN where
// both are 0 or infinite, which is the result then.
InstructionId ComplexArithmetic::Abs(ComplexParts z) {
  const Id a = Add(Opcode::kAbs, {z.re});
  const Id b = Add(Opcode::kAbs, {z.im});
  const Id greatest = Add(Opcode::kMaximum, {a, b});
  const Id least = Add(Opcode::kMinimum, {a, b});
  const Id ratio = Over(least, greatest);
  const Id root = Add(Opcode::kSqrt, {Plus(Constant(1), Times(ratio, ratio))});
  const Id product = Times(greatest, root);
  return Select(Compare(ComparisonDirection::kEq, product, product), product,
                least);
}

ComplexParts ComplexArithmetic::Multiply(ComplexParts a, ComplexParts b) {
  return {Minus(Times(a.re, b.re), Times(a.im, b.im)),
          Plus(Times(a.re, b.im), Times(a.im, b.re))};
}

ComplexParts ComplexArithmetic::Scale(ComplexParts z, Id divisor) {
  return {Over(z.re, divisor), Over(z.im, divisor)};
}

// Smith's method: divides by the larger part of the divisor first, so that
// squares do not overflow.
ComplexParts ComplexArithmetic::Divide(ComplexParts a, ComplexParts b) {
  const Id is_real =
      Compare(ComparisonDirection::kGe, Add(Opcode::kAbs, {b.re}),
              Add(Opcode::kAbs, {b.im}));
  const Id large = Select(is_real, b.re, b.im);
  const Id small = Select(is_real, b.im, b.re);
  const Id ratio = Over(small, large);
  const Id divisor = Plus(large, Times(small, ratio));
  // a·conj(b) by the larger part: with a turned by a quarter if it is the
  // imaginary one.
  const Id first = Select(is_real, a.re, a.im);
  const Id second = Select(is_real, a.im, a.re);
  const Id re = Over(Plus(first, Times(second, ratio)), divisor);
  const Id im_real = Over(Minus(second, Times(first, ratio)), divisor);
  const Id im = Select(is_real, im_real, Negate(im_real));
  const Id zero = Constant(0);
  const Id is_zero = Compare(ComparisonDirection::kEq, large, zero);
  return {Select(is_zero, Over(a.re, b.re), re),
          Select(is_zero, Over(a.im, b.re), im)};
}

// exp(a)² may be finite where exp(a) is not, so that half of it is multiplied
// twice; 0·∞ is avoided for real numbers.
ComplexParts ComplexArithmetic::Exp(ComplexParts z) {
  const Id whole = Add(Opcode::kExponential, {z.re});
  const Id half = Add(Opcode::kExponential, {Times(z.re, Constant(0.5))});
  const Id overflows =
      Compare(ComparisonDirection::kEq, whole,
              Constant(std::numeric_limits<double>::infinity()));
  const auto scaled = [&](Id x) {
    return Select(overflows, Times(Times(half, x), half), Times(whole, x));
  };
  const Id is_real = Compare(ComparisonDirection::kEq, z.im, Constant(0));
  return {scaled(Add(Opcode::kCosine, {z.im})),
          Select(is_real, z.im, scaled(Add(Opcode::kSine, {z.im})))};
}

// expm1(a)·cos b + (cos b - 1), where cos b - 1 = -2·sin²(b/2).
ComplexParts ComplexArithmetic::ExpMinusOne(ComplexParts z) {
  const Id sine = Add(Opcode::kSine, {Times(z.im, Constant(0.5))});
  const Id product = Times(Add(Opcode::kExponentialMinusOne, {z.re}),
                           Add(Opcode::kCosine, {z.im}));
  return {Minus(product, Times(Constant(2), Times(sine, sine))),
          Times(Add(Opcode::kExponential, {z.re}), Add(Opcode::kSine, {z.im}))};
}

ComplexParts ComplexArithmetic::Log(ComplexParts z) {
  return {Add(Opcode::kLog, {Abs(z)}), Add(Opcode::kAtan2, {z.im, z.re})};
}

// log|1 + z| = log1p(a·(2 + a) + b²) / 2.
ComplexParts ComplexArithmetic::LogPlusOne(ComplexParts z) {
  const Id square =
      Plus(Times(z.re, Plus(Constant(2), z.re)), Times(z.im, z.im));
  return {Times(Add(Opcode::kLogPlusOne, {square}), Constant(0.5)),
          Add(Opcode::kAtan2, {z.im, Plus(z.re, Constant(1))})};
}

// With t = √(|a|/2 + |z|/2): t + i·b/(2t) in the right half plane, and
// |b|/(2t) ± i·t in the left one.
ComplexParts ComplexArithmetic::Sqrt(ComplexParts z) {
  const Id half = Constant(0.5);
  const Id zero = Constant(0);
  const Id t =
      Add(Opcode::kSqrt,
          {Plus(Times(Add(Opcode::kAbs, {z.re}), half), Times(Abs(z), half))});
  const Id magnitude = Add(Opcode::kAbs, {z.im});
  const Id is_zero = Compare(ComparisonDirection::kEq, t, zero);
  const Id other = Select(is_zero, zero, Over(Times(magnitude, half), t));
  const Id is_right = Compare(ComparisonDirection::kGe, z.re, zero);
  const Id is_infinite =
      Compare(ComparisonDirection::kEq, magnitude,
              Constant(std::numeric_limits<double>::infinity()));
  return {
      Select(is_infinite, magnitude, Select(is_right, t, other)),
      Select(is_infinite, z.im, WithSign(Select(is_right, other, t), z.im))};
}

ComplexParts ComplexArithmetic::Power(ComplexParts a, ComplexParts b) {
  const Id zero = Constant(0);
  const Id one = Constant(1);
  const ComplexParts power = Exp(Multiply(b, Log(a)));
  const Id is_one = Equal(b, {zero, zero}, false);
  const Id is_zero = Equal(a, {zero, zero}, false);
  return {Select(is_one, one, Select(is_zero, zero, power.re)),
          Select(is_one, zero, Select(is_zero, zero, power.im))};
}

// With t = tanh a and u = tan b: (t + i·u) / (1 + i·t·u), where the imaginary
// part has the factor 1 - t² = 1/cosh²(a) = 4·e/(1 + e)², e = exp(-2|a|).
ComplexParts ComplexArithmetic::Tanh(ComplexParts z) {
  const Id one = Constant(1);
  const Id t = Add(Opcode::kTanh, {z.re});
  const Id u = Over(Add(Opcode::kSine, {z.im}), Add(Opcode::kCosine, {z.im}));
  const Id e = Add(Opcode::kExponential,
                   {Times(Add(Opcode::kAbs, {z.re}), Constant(-2))});
  const Id root = Plus(one, e);
  const Id derivative = Over(Times(Constant(4), e), Times(root, root));
  const Id product = Times(t, u);
  const Id divisor = Plus(one, Times(product, product));
  return {Over(Times(t, Plus(one, Times(u, u))), divisor),
          Over(Times(u, derivative), divisor)};
}

std::optional<ComplexParts> ComplexArithmetic::Apply(
    Opcode opcode, const std::vector<ComplexParts>& operands) {
  const ComplexParts z = operands[0];
  switch (opcode) {
    case Opcode::kAdd:
      return ComplexParts{Plus(z.re, operands[1].re),
                          Plus(z.im, operands[1].im)};
    case Opcode::kSubtract:
      return ComplexParts{Minus(z.re, operands[1].re),
                          Minus(z.im, operands[1].im)};
    case Opcode::kMultiply:
      return Multiply(z, operands[1]);
    case Opcode::kDivide:
      return Divide(z, operands[1]);
    case Opcode::kPower:
      return Power(z, operands[1]);
    case Opcode::kNegate:
      return ComplexParts{Negate(z.re), Negate(z.im)};
    case Opcode::kSign: {
      const Id magnitude = Abs(z);
      const Id is_zero =
          Compare(ComparisonDirection::kEq, magnitude, Constant(0));
      return Scale(z, Select(is_zero, Constant(1), magnitude));
    }
    case Opcode::kExponential:
      return Exp(z);
    case Opcode::kExponentialMinusOne:
      return ExpMinusOne(z);
    case Opcode::kLog:
      return Log(z);
    case Opcode::kLogPlusOne:
      return LogPlusOne(z);
    case Opcode::kSqrt:
      return Sqrt(z);
    case Opcode::kRsqrt:
      return Divide({Constant(1), Constant(0)}, Sqrt(z));
    case Opcode::kTanh:
      return Tanh(z);
    case Opcode::kTan: {
      // tan z = -i·tanh(i·z)
      const ComplexParts turned = Tanh({Negate(z.im), z.re});
      return ComplexParts{turned.im, Negate(turned.re)};
    }
    case Opcode::kLogistic: {
      const ComplexParts e = Exp({Negate(z.re), Negate(z.im)});
      return Divide({Constant(1), Constant(0)},
                    {Plus(Constant(1), e.re), e.im});
    }
    default:
      return std::nullopt;
  }
}

}  // namespace hone::loops
