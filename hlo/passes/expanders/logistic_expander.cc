// logistic-expander: spells the logistic function out.
//
//   logistic(x)  →  1 / (1 + exp(-x))
//
// For code generators that have no instruction of their own, and for rules that
// simplify exponentials. Reassociates: the rounding differs in the last places,
// and where exp(-x) overflows, the result is 0 or would be denormal. Not for
// types without infinities, in which that overflow is NaN, nor for complex
// ones, whose quotients by infinity are. Five instructions for one, of which
// the constant can be shared.

#include <memory>

#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/rewrite/makers.h"

namespace hone::hlo {
namespace {

bool ExpandLogistic(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  const ElementType type = r.shape(x).element_type();
  if (!IsFloat(type) || BitWidth(type) < 16) return false;
  const InstructionId one =
      MakeUniform(r, Literal::Scalar(type, 1), r.dimensions_of(x));
  const InstructionId power =
      MakeUnary(r, Opcode::kExponential, MakeUnary(r, Opcode::kNegate, x));
  return r.Replace(id, MakeBinary(r, Opcode::kDivide, one,
                                  MakeBinary(r, Opcode::kAdd, power, one)));
}

}  // namespace

std::unique_ptr<Pass> MakeLogisticExpander() {
  return MakeRulePass({.name = "logistic-expander",
                       .numeric_class = NumericClass::kReassociates,
                       .opcodes = {Opcode::kLogistic}},
                      ExpandLogistic);
}

}  // namespace hone::hlo
