#ifndef HONE_LOOPS_LOWERING_COMPLEX_COMPLEX_ARITHMETIC_H_
#define HONE_LOOPS_LOWERING_COMPLEX_COMPLEX_ARITHMETIC_H_

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hlo/ir/computation.h"

namespace hone::loops {

// The real and imaginary parts of a value, arrays of one shape.
struct ComplexParts {
  hlo::InstructionId re = hlo::kNoInstruction;
  hlo::InstructionId im = hlo::kNoInstruction;
};

// Adds elementwise instructions on complex numbers, in terms of their parts.
// Where they are defined, infinities and NaN are the evaluator's, except that
// products and quotients do not recover an infinity from NaN parts.
class ComplexArithmetic {
 public:
  // `shape` is that of the parts. Instructions get the name `name`.
  ComplexArithmetic(hlo::Computation& computation, hlo::ShapePtr shape,
                    std::string name)
      : computation_(computation),
        shape_(std::move(shape)),
        name_(std::move(name)) {}

  // Returns the parts of an elementwise opcode with a complex result; nullopt
  // if there is no definition of it here.
  std::optional<ComplexParts> Apply(hlo::Opcode opcode,
                                    const std::vector<ComplexParts>& operands);
  hlo::InstructionId Abs(ComplexParts z);
  // The result is pred.
  hlo::InstructionId Equal(ComplexParts a, ComplexParts b, bool negated);
  hlo::InstructionId Constant(double value);

 private:
  using Id = hlo::InstructionId;

  Id Add(hlo::Opcode opcode, std::initializer_list<Id> operands);
  Id AddAs(
      hlo::ShapePtr shape, hlo::Opcode opcode,
      std::initializer_list<Id> operands,
      std::shared_ptr<const hlo::Attributes> attributes = hlo::NoAttributes());
  Id Compare(hlo::ComparisonDirection direction, Id a, Id b);
  Id Select(Id pred, Id a, Id b) {
    return Add(hlo::Opcode::kSelect, {pred, a, b});
  }
  Id Negate(Id a) { return Add(hlo::Opcode::kNegate, {a}); }
  Id Plus(Id a, Id b) { return Add(hlo::Opcode::kAdd, {a, b}); }
  Id Minus(Id a, Id b) { return Add(hlo::Opcode::kSubtract, {a, b}); }
  Id Times(Id a, Id b) { return Add(hlo::Opcode::kMultiply, {a, b}); }
  Id Over(Id a, Id b) { return Add(hlo::Opcode::kDivide, {a, b}); }
  // `magnitude` with the sign of `sign`.
  Id WithSign(Id magnitude, Id sign);

  ComplexParts Multiply(ComplexParts a, ComplexParts b);
  ComplexParts Divide(ComplexParts a, ComplexParts b);
  ComplexParts Scale(ComplexParts z, Id divisor);
  ComplexParts Exp(ComplexParts z);
  ComplexParts ExpMinusOne(ComplexParts z);
  ComplexParts Log(ComplexParts z);
  ComplexParts LogPlusOne(ComplexParts z);
  ComplexParts Sqrt(ComplexParts z);
  ComplexParts Power(ComplexParts a, ComplexParts b);
  ComplexParts Tanh(ComplexParts z);

  hlo::Computation& computation_;
  const hlo::ShapePtr shape_;
  const std::string name_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_COMPLEX_COMPLEX_ARITHMETIC_H_
