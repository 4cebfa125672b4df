// logistic-recognizer: names the logistic function where it is spelled out.
//
//   1 / (1 + exp(-x))  →  logistic(x)
//
// For backends with an instruction for it; the reverse of logistic-expander,
// with which it must not share a loop. Legal for floating-point x of 16 bits or
// more: below, each of the steps rounds by a large part. Only where nothing
// else uses the sum. Numeric class: reassociates. The rounding differs in the
// last places; where exp(-x) overflows, the quotient is 0 and the logistic
// function below the smallest normal number, in every format. Hone's own:
// upstream expands the function and leaves it so.

#include <memory>

#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/rewrite/makers.h"
#include "hlo/rewrite/matchers.h"

namespace hone::hlo {
namespace {

bool Recognize(Rewriter& r, InstructionId id) {
  InstructionId sum, power, x;
  const ElementType type = r.shape(id).element_type();
  return IsFloat(type) && BitWidth(type) >= 16 &&
         r.Match(id, m::Divide(
                         m::Uniform(1),
                         m::AddAnyOrder(
                             &sum, m::Uniform(1),
                             m::Exponential(&power, m::Negate(m::Op(&x)))))) &&
         // An accuracy that the exponential demands is an unknown attribute.
         r.MayReplace(power) && r.DiesWith(sum, id) &&
         r.Replace(id, MakeUnary(r, Opcode::kLogistic, x));
}

}  // namespace

std::unique_ptr<Pass> MakeLogisticRecognizer() {
  return MakeRulePass({.name = "logistic-recognizer",
                       .numeric_class = NumericClass::kReassociates,
                       .opcodes = {Opcode::kDivide}},
                      Recognize);
}

}  // namespace hone::hlo
