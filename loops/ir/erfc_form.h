#ifndef HONE_LOOPS_IR_ERFC_FORM_H_
#define HONE_LOOPS_IR_ERFC_FORM_H_

#include <initializer_list>

#include "hlo/ir/opcode.h"

namespace hone::loops {

// Writes erfc in f32, which has no opcode:
//
//   erfc(x) = exp(-x²)·P(|x|)/Q(|x|) for x ≥ 0, and 2 minus that for x < 0
//
// with polynomials of degree 4 and 5, a relative minimax fit of exp(x²)·erfc(x)
// on 0 … 9.4 (5.4e-9). Lowering writes this form, and code generators may
// recognize it by it.
//
// `builder` makes values: Constant(float), Less(a, b), and Apply(opcode,
// {operands}) for results of f32.
template <typename Builder, typename Value>
Value WriteErfc(Builder& builder, Value x) {
  using hlo::Opcode;
  // Highest power first.
  const auto polynomial = [&](std::initializer_list<float> coefficients,
                              const Value& variable) {
    const float* c = coefficients.begin();
    Value sum = builder.Constant(*c);
    for (++c; c != coefficients.end(); ++c) {
      sum = builder.Apply(Opcode::kAdd,
                          {builder.Apply(Opcode::kMultiply, {sum, variable}),
                           builder.Constant(*c)});
    }
    return sum;
  };
  // From here on the result is 0 whatever the polynomials are; their quotient
  // has to be a number there.
  const Value largest = builder.Constant(11.0F);
  const Value magnitude = builder.Apply(Opcode::kAbs, {x});
  const Value bounded = builder.Apply(
      Opcode::kSelect, {builder.Less(magnitude, largest), magnitude, largest});
  const Value numerator = polynomial(
      {0.0324988440F, 0.227799013F, 0.728623331F, 1.23556161F, 1.0F}, bounded);
  const Value denominator =
      polynomial({0.0576019511F, 0.403791070F, 1.31980455F, 2.39603662F,
                  2.36394143F, 1.0F},
                 bounded);
  const Value quotient =
      builder.Apply(Opcode::kDivide, {numerator, denominator});
  const Value exponent = builder.Apply(
      Opcode::kNegate, {builder.Apply(Opcode::kMultiply, {x, x})});
  const Value positive = builder.Apply(
      Opcode::kMultiply,
      {builder.Apply(Opcode::kExponential, {exponent}), quotient});
  const Value negative =
      builder.Apply(Opcode::kSubtract, {builder.Constant(2.0F), positive});
  return builder.Apply(
      Opcode::kSelect,
      {builder.Less(x, builder.Constant(0.0F)), negative, positive});
}

}  // namespace hone::loops

#endif  // HONE_LOOPS_IR_ERFC_FORM_H_
