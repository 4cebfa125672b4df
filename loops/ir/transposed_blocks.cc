#include "loops/ir/transposed_blocks.h"

#include <algorithm>
#include <optional>

#include "loops/ir/code_limits.h"
#include "loops/ir/element_number.h"
#include "loops/ir/rewrite.h"

namespace hone::loops {
namespace {

bool IsSide(const Loop& loop) {
  return loop.extent >= 2 && loop.extent <= kMostTransposed;
}

bool IsTransposed(const Program& program, const Access& access,
                  const Loop& unrolled, const Loop& vector) {
  const std::optional<Affine> number = NumberOf(program, access);
  if (!number.has_value() || number->coefficient(unrolled.var) != 1) {
    return false;
  }
  const int64_t along = number->coefficient(vector.var);
  return along > 1 || along < -1;
}

// Calls `visit` with the loads that are evaluated in any case.
void VisitPlainLoads(const Expression& e,
                     absl::FunctionRef<void(const Expression&)> visit) {
  if (e.kind() == Expression::Kind::kWhere) return;
  if (e.kind() == Expression::Kind::kLoad) visit(e);
  for (const ExpressionPtr& operand : e.operands()) {
    VisitPlainLoads(*operand, visit);
  }
}

}  // namespace

bool CanTranspose(const Loop& unrolled, const Loop& vector) {
  return IsSide(unrolled) && IsSide(vector);
}

void VisitTransposedLoads(const Program& program, const Loop& unrolled,
                          const Loop& vector,
                          absl::FunctionRef<void(const Expression&)> visit) {
  if (!CanTranspose(unrolled, vector)) return;
  const auto is_written = [&](BufferId buffer) {
    return std::any_of(vector.body.begin(), vector.body.end(),
                       [&](const Node& node) {
                         return node.statement()->target.buffer == buffer;
                       });
  };
  for (const Node& node : vector.body) {
    VisitPlainLoads(*node.statement()->value, [&](const Expression& load) {
      if (IsTransposed(program, load.access(), unrolled, vector) &&
          !is_written(load.access().buffer)) {
        visit(load);
      }
    });
  }
}

const Statement* TransposedStore(const Program& program, const Loop& unrolled,
                                 const Loop& vector) {
  if (!CanTranspose(unrolled, vector) || vector.body.empty()) return nullptr;
  const bool is_adjacent =
      unrolled.body.size() == 1 && unrolled.body[0].loop() == &vector;
  if (vector.body.size() > 1 && !is_adjacent) return nullptr;
  // Other statements, before it, may compute what it stores.
  const Statement& statement = *vector.body.back().statement();
  if (statement.combine.has_value() || statement.predicate != nullptr ||
      !IsTransposed(program, statement.target, unrolled, vector)) {
    return nullptr;
  }
  bool is_used = false;
  for (const Node& node : vector.body) {
    VisitAccesses(*node.statement(), [&](const Access& access, bool is_target) {
      is_used |= access.buffer == statement.target.buffer &&
                 !(is_target && node.statement() == &statement);
    });
  }
  return is_used ? nullptr : &statement;
}

}  // namespace hone::loops
