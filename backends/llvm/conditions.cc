#include <utility>
#include <vector>

#include "backends/llvm/function_emitter.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/analysis/same_expression.h"

namespace hone::backends {
namespace {

using loops::Expression;
using loops::ExpressionPtr;
using loops::Loop;
using loops::Node;
using loops::Statement;

}  // namespace

bool IsLoopInvariant(const Expression& expression) {
  if (expression.kind() == Expression::Kind::kIndex ||
      expression.kind() == Expression::Kind::kWhere) {
    return false;
  }
  for (const loops::Index& index : expression.access().indices) {
    if (index.offset != nullptr || !index.affine.IsConstant()) return false;
  }
  for (const ExpressionPtr& operand : expression.operands()) {
    if (!IsLoopInvariant(*operand)) return false;
  }
  return true;
}

ExpressionPtr FunctionEmitter::ConditionOf(const Loop& loop) const {
  ExpressionPtr condition;
  bool is_common = true;
  for (const Node& node : loop.body) {
    loops::VisitStatements(node, [&](const Statement& statement) {
      if (!is_common) return;
      if (condition == nullptr) condition = statement.predicate;
      is_common = statement.predicate != nullptr &&
                  loops::SameExpression(*statement.predicate, *condition);
    });
  }
  if (!is_common || condition == nullptr || !IsLoopInvariant(*condition)) {
    return nullptr;
  }
  loops::VisitLoads(*condition, [&](const loops::Access& access) {
    for (const Node& node : loop.body) {
      loops::VisitStatements(node, [&](const Statement& statement) {
        is_common = is_common && statement.target.buffer != access.buffer;
      });
    }
  });
  return is_common ? condition : nullptr;
}

bool FunctionEmitter::EmitConditionalLoop(const Loop& loop) {
  if (is_condition_met_ || loop.mode != loops::LoopMode::kSequential) {
    return false;
  }
  const ExpressionPtr condition = ConditionOf(loop);
  if (condition == nullptr) return false;
  const std::vector<Memo> outer_memo = std::exchange(memo_, {Memo()});
  EmitIf(EmitExpression(condition), [&] {
    is_condition_met_ = true;
    EmitLoop(loop);
    is_condition_met_ = false;
  });
  memo_ = outer_memo;
  return true;
}

}  // namespace hone::backends
