#include "backends/llvm/erfc_match.h"

#include <utility>
#include <vector>

#include "loops/ir/erfc_form.h"
#include "loops/transforms/analysis/same_expression.h"

namespace hone::backends {
namespace {

using hlo::ElementType;
using hlo::Opcode;
using loops::Expression;
using loops::ExpressionPtr;

struct ExpressionBuilder {
  static ExpressionPtr Constant(float value) {
    return Expression::Constant(ElementType::kF32, static_cast<double>(value));
  }
  static ExpressionPtr Less(ExpressionPtr a, ExpressionPtr b) {
    return Expression::Compare(hlo::ComparisonDirection::kLt, false,
                               std::move(a), std::move(b));
  }
  static ExpressionPtr Apply(Opcode opcode,
                             std::vector<ExpressionPtr> operands) {
    return Expression::Apply(opcode, ElementType::kF32, std::move(operands));
  }
};

bool Is(const Expression& e, Opcode opcode) {
  return e.kind() == Expression::Kind::kApply && e.opcode() == opcode;
}

}  // namespace

ExpressionPtr ArgumentOfErfc(const Expression& expression) {
  if (!Is(expression, Opcode::kSelect) ||
      expression.type() != ElementType::kF32 ||
      !Is(*expression.operands()[0], Opcode::kCompare) ||
      !Is(*expression.operands()[1], Opcode::kSubtract) ||
      !Is(*expression.operands()[2], Opcode::kMultiply)) {
    return nullptr;
  }
  const ExpressionPtr& x = expression.operands()[0]->operands()[0];
  if (x->type() != ElementType::kF32) return nullptr;
  ExpressionBuilder builder;
  const ExpressionPtr form = loops::WriteErfc(builder, x);
  return loops::SameExpression(expression, *form) ? x : nullptr;
}

}  // namespace hone::backends
