#include "loops/ir/expression.h"

#include <utility>

#include "base/check.h"

namespace hone::loops {

std::shared_ptr<Expression> Expression::Make(Kind kind, hlo::ElementType type) {
  // make_shared cannot reach the constructor.
  std::shared_ptr<Expression> e(new Expression);
  e->kind_ = kind;
  e->type_ = type;
  return e;
}

ExpressionPtr Expression::Constant(hlo::ElementType type, double value) {
  auto e = Make(Kind::kConstant, type);
  e->number_ = value;
  if (!hlo::IsFloat(type)) e->integer_ = static_cast<int64_t>(value);
  return e;
}

ExpressionPtr Expression::ConstantInt(hlo::ElementType type, int64_t value) {
  auto e = Make(Kind::kConstant, type);
  e->number_ = static_cast<double>(value);
  e->integer_ = value;
  return e;
}

ExpressionPtr Expression::Load(hlo::ElementType type, Access access) {
  auto e = Make(Kind::kLoad, type);
  e->access_ = std::move(access);
  return e;
}

ExpressionPtr Expression::OfIndex(hlo::ElementType type, Affine value) {
  auto e = Make(Kind::kIndex, type);
  e->index_ = std::move(value);
  return e;
}

ExpressionPtr Expression::Apply(hlo::Opcode opcode, hlo::ElementType type,
                                std::vector<ExpressionPtr> operands) {
  HONE_CHECK(hlo::IsElementwise(opcode));
  auto e = Make(Kind::kApply, type);
  e->opcode_ = opcode;
  e->operands_ = std::move(operands);
  return e;
}

ExpressionPtr Expression::Compare(hlo::ComparisonDirection direction,
                                  bool total_order, ExpressionPtr a,
                                  ExpressionPtr b) {
  auto e = Make(Kind::kApply, hlo::ElementType::kPred);
  e->opcode_ = hlo::Opcode::kCompare;
  e->direction_ = direction;
  e->total_order_ = total_order;
  e->operands_ = {std::move(a), std::move(b)};
  return e;
}

ExpressionPtr Expression::Where(std::vector<Range> ranges, ExpressionPtr inside,
                                ExpressionPtr outside) {
  auto e = Make(Kind::kWhere, inside->type());
  e->ranges_ = std::move(ranges);
  e->operands_ = {std::move(inside), std::move(outside)};
  return e;
}

}  // namespace hone::loops
