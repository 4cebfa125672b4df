#include "loops/simplify_ranges.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"
#include "loops/rewrite.h"

namespace hone::loops {
namespace {

ExpressionPtr SimplifyWhere(const ExpressionPtr& e, const ValueRanges& ranges) {
  if (e->kind() != Expression::Kind::kWhere) return e;
  std::vector<Range> open;
  for (const Range& range : e->ranges()) {
    const Interval value = ranges.Of(range.value);
    if (value.hi < range.lo || value.lo >= range.hi) return e->operands()[1];
    if (value.lo < range.lo || value.hi >= range.hi) open.push_back(range);
  }
  if (open.empty()) return e->operands()[0];
  if (open.size() == e->ranges().size()) return e;
  return Expression::Where(std::move(open), e->operands()[0], e->operands()[1]);
}

std::optional<Node> Simplify(const Node& node, ValueRanges& ranges) {
  if (node.statement() != nullptr) {
    return MapExpressions(
        node, [&](const ExpressionPtr& e) { return SimplifyWhere(e, ranges); });
  }
  const Scope& old = *node.scope();
  auto scope = std::make_shared<Scope>();
  scope->var = old.var;
  scope->extent = old.extent;
  scope->bound = old.bound;
  scope->mode = old.mode;
  scope->locals = old.locals;
  if (scope->bound.has_value()) {
    const Interval bound = ranges.Of(*scope->bound);
    if (bound.hi < scope->extent && bound.lo == bound.hi) {
      scope->extent = bound.hi;
    }
    if (bound.lo >= scope->extent) scope->bound.reset();
  }
  if (scope->extent <= 0) return std::nullopt;
  // A single lane is no vector; its buffers may have to be registers still.
  if (scope->mode == ScopeMode::kVector && scope->extent == 1) {
    scope->mode = ScopeMode::kUnrolled;
  }
  ranges.Enter(scope->var, scope->extent);
  for (const Node& child : old.body) {
    std::optional<Node> simplified = Simplify(child, ranges);
    if (simplified.has_value()) scope->body.push_back(*std::move(simplified));
  }
  ranges.Leave();
  if (scope->body.empty()) return std::nullopt;
  if (scope->extent == old.extent && scope->bound == old.bound &&
      scope->body == old.body) {
    return node;
  }
  return Node(std::shared_ptr<const Scope>(std::move(scope)));
}

}  // namespace

ValueRanges::ValueRanges(absl::Span<const Scope* const> scopes) {
  for (const Scope* scope : scopes) Enter(scope->var, scope->extent);
}

Interval ValueRanges::Of(const Affine& affine) const {
  return RangeOf(affine, [this](VarId id) -> Interval {
    const auto at = std::find_if(vars_.rbegin(), vars_.rend(),
                                 [&](const Var& var) { return var.var == id; });
    HONE_CHECK(at != vars_.rend());
    return {0, at->last};
  });
}

std::vector<Node> SimplifyRanges(const Node& node, ValueRanges ranges) {
  std::optional<Node> simplified = Simplify(node, ranges);
  if (!simplified.has_value()) return {};
  return {*std::move(simplified)};
}

}  // namespace hone::loops
