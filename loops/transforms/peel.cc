// peel PATH COUNT: the first COUNT iterations of a scope and the others become
// two scopes.
//
//   for i 63                            for i 62
//   | for j 16 < 1000-16*i              | for j 16
//   | | y[16*i+j] = x[16*i+j]      →    | | y[16*i+j] = x[16*i+j]
//                                       for j 8
//                                       | y[992+j] = x[992+j]
//
// Legal always: the order of iterations stays. In each part bounds and ranges
// of wheres that its iterations decide are gone, which is what it is for:
// vectors without masks, the inside of a padded array without conditions. A
// part of a single iteration is not a scope any more, unless it has locals.

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/rewrite.h"
#include "loops/simplify_ranges.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

absl::Status CheckShape(const Scope& scope) {
  if (scope.mode == ScopeMode::kVector) {
    return absl::InvalidArgumentError("the scope is vector");
  }
  if (scope.bound.has_value()) {
    return absl::InvalidArgumentError("the scope has a bound");
  }
  return absl::OkStatus();
}

absl::Status Check(const Scope& scope, int64_t count) {
  HONE_RETURN_IF_ERROR(CheckShape(scope));
  if (count < 1 || count >= scope.extent) {
    return absl::InvalidArgumentError(
        absl::StrCat("count ", count, ", expected 1 … ", scope.extent - 1));
  }
  return absl::OkStatus();
}

// Counts that make conditions in a scope hold throughout one of the parts.
class Thresholds {
 public:
  Thresholds(VarId var, int64_t extent, ValueRanges ranges)
      : var_(var), extent_(extent), ranges_(std::move(ranges)) {}

  // `node` is the scope or in it.
  void Visit(const Node& node) {
    if (node.scope() != nullptr) {
      const Scope& scope = *node.scope();
      if (scope.bound.has_value()) AddAtLeastZero(*scope.bound - scope.extent);
      ranges_.Enter(scope.var, scope.extent);
      for (const Node& child : scope.body) Visit(child);
      ranges_.Leave();
      return;
    }
    const Statement& statement = *node.statement();
    for (const Index& index : statement.target.indices) Visit(index.offset);
    Visit(statement.value);
    Visit(statement.predicate);
  }

  const std::set<int64_t>& counts() const { return counts_; }

 private:
  void Visit(const ExpressionPtr& e) {
    if (e == nullptr) return;
    if (e->kind() == Expression::Kind::kLoad) {
      for (const Index& index : e->access().indices) Visit(index.offset);
    }
    if (e->kind() == Expression::Kind::kWhere) {
      for (const Range& range : e->ranges()) {
        AddAtLeastZero(range.value - range.lo);
        AddAtLeastZero(Affine(range.hi - 1) - range.value);
      }
    }
    for (const ExpressionPtr& operand : e->operands()) Visit(operand);
  }

  // From where on, or up to where, `value` ≥ 0 whatever the other variables.
  void AddAtLeastZero(const Affine& value) {
    const int64_t step = value.coefficient(var_);
    if (step == 0) return;
    const int64_t rest = ranges_.Of(value - Affine::Var(var_, step)).lo;
    // First iteration that holds, or first that need not.
    const int64_t count = step > 0
                              ? (std::max<int64_t>(-rest, 0) + step - 1) / step
                          : rest < 0 ? 0
                                     : rest / -step + 1;
    if (count >= 1 && count < extent_) counts_.insert(count);
  }

  const VarId var_;
  const int64_t extent_;
  ValueRanges ranges_;
  std::set<int64_t> counts_;
};

// Iterations from `begin` on, `extent` of them, of a scope.
std::vector<Node> Part(const Scope& scope, int64_t begin, int64_t extent,
                       const ValueRanges& ranges) {
  std::vector<Node> nodes;
  if (extent == 1 && scope.locals.empty()) {
    nodes = Substitute(scope.body, scope.var, begin);
  } else {
    auto part = std::make_shared<Scope>(scope);
    part->extent = extent;
    if (begin != 0) {
      part->body =
          Substitute(scope.body, scope.var, Affine::Var(scope.var) + begin);
    }
    nodes.emplace_back(std::shared_ptr<const Scope>(std::move(part)));
  }
  std::vector<Node> simplified;
  for (const Node& node : nodes) {
    for (Node& kept : SimplifyRanges(node, ranges)) {
      simplified.push_back(std::move(kept));
    }
  }
  return simplified;
}

class Peel final : public Transform {
 public:
  absl::string_view name() const override { return "peel"; }

  void Enumerate(const Program& program, const Machine&,
                 std::vector<Step>& steps) const override {
    VisitScopes(program, Path(), [&](const Path& path, const Scope& scope) {
      if (!CheckShape(scope).ok()) return;
      Thresholds thresholds(scope.var, scope.extent,
                            ValueRanges(program.ScopesAbove(path)));
      thresholds.Visit(program.At(path));
      for (int64_t count : thresholds.counts()) {
        steps.push_back({"peel", path, {count}});
      }
    });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 1, "COUNT"));
    HONE_ASSIGN_OR_RETURN(const Scope* scope, FindScope(program, step));
    const int64_t count = step.parameters[0];
    HONE_RETURN_IF_ERROR(Check(*scope, count));

    Program result = program;
    const ValueRanges ranges(program.ScopesAbove(step.path));
    std::vector<Node> nodes = Part(*scope, 0, count, ranges);
    const Node second = Duplicate(result, program.At(step.path));
    for (Node& node :
         Part(*second.scope(), count, scope->extent - count, ranges)) {
      nodes.push_back(std::move(node));
    }
    result.Replace(step.path, std::move(nodes));
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakePeel() { return std::make_unique<Peel>(); }

}  // namespace hone::loops
