#include "loops/analysis/simplify_ranges.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"
#include "loops/ir/rewrite.h"

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
  const Loop& old = *node.loop();
  auto loop = std::make_shared<Loop>();
  loop->var = old.var;
  loop->extent = old.extent;
  loop->bound = old.bound;
  loop->mode = old.mode;
  loop->locals = old.locals;
  if (loop->bound.has_value()) {
    const Interval bound = ranges.Of(*loop->bound);
    if (bound.hi < loop->extent && bound.lo == bound.hi) {
      loop->extent = bound.hi;
    }
    if (bound.lo >= loop->extent) loop->bound.reset();
  }
  if (loop->extent <= 0) return std::nullopt;
  // A single lane is no vector; its buffers may have to be registers still.
  if (loop->mode == LoopMode::kVector && loop->extent == 1) {
    loop->mode = LoopMode::kUnrolled;
  }
  ranges.Enter(loop->var, loop->extent);
  for (const Node& child : old.body) {
    std::optional<Node> simplified = Simplify(child, ranges);
    if (simplified.has_value()) loop->body.push_back(*std::move(simplified));
  }
  ranges.Leave();
  if (loop->body.empty()) return std::nullopt;
  if (loop->extent == old.extent && loop->bound == old.bound &&
      loop->body == old.body) {
    return node;
  }
  return Node(std::shared_ptr<const Loop>(std::move(loop)));
}

}  // namespace

ValueRanges::ValueRanges(absl::Span<const Loop* const> loops) {
  for (const Loop* loop : loops) Enter(loop->var, loop->extent);
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
