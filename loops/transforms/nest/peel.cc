// peel PATH COUNT: splits a loop into its first COUNT iterations and the
// others.
//
//   for i 63                            for i 62
//   | for j 16 < 1000-16*i              | for j 16
//   | | y[16*i+j] = x[16*i+j]      →    | | y[16*i+j] = x[16*i+j]
//                                       for j 8
//                                       | y[992+j] = x[992+j]
//
// Always legal: the order of iterations stays. Bounds and ranges of `where`
// that are decided by the iterations of a part disappear in that part, which is
// the purpose: vectors without masks, the interior of a padded array without
// conditions. A part of a single iteration becomes straight code, unless it has
// locals.

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/analysis/simplify_ranges.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

absl::Status CheckShape(const Loop& loop) {
  if (loop.mode == LoopMode::kVector) {
    return absl::InvalidArgumentError("the loop is vector");
  }
  if (loop.bound.has_value()) {
    return absl::InvalidArgumentError("the loop has a bound");
  }
  return absl::OkStatus();
}

absl::Status Check(const Loop& loop, int64_t count) {
  HONE_RETURN_IF_ERROR(CheckShape(loop));
  if (count < 1 || count >= loop.extent) {
    return absl::InvalidArgumentError(
        absl::StrCat("count ", count, ", expected 1 … ", loop.extent - 1));
  }
  return absl::OkStatus();
}

// Counts that make conditions in a loop hold throughout one of the parts.
class Thresholds {
 public:
  Thresholds(VarId var, int64_t extent, ValueRanges ranges)
      : var_(var), extent_(extent), ranges_(std::move(ranges)) {}

  // `node` is the loop or in it.
  void Visit(const Node& node) {
    if (node.loop() != nullptr) {
      const Loop& loop = *node.loop();
      if (loop.bound.has_value()) AddAtLeastZero(*loop.bound - loop.extent);
      ranges_.Enter(loop.var, loop.extent);
      for (const Node& child : loop.body) Visit(child);
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

  // Adds the iteration from which on, or up to which, `value` ≥ 0 for all
  // values of the other variables.
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

// Iterations from `begin` on, `extent` of them, of a loop.
std::vector<Node> Part(const Loop& loop, int64_t begin, int64_t extent,
                       const ValueRanges& ranges) {
  std::vector<Node> nodes;
  if (extent == 1 && loop.locals.empty()) {
    nodes = Substitute(loop.body, loop.var, begin);
  } else {
    auto part = std::make_shared<Loop>(loop);
    part->extent = extent;
    if (begin != 0) {
      part->body =
          Substitute(loop.body, loop.var, Affine::Var(loop.var) + begin);
    }
    nodes.emplace_back(std::shared_ptr<const Loop>(std::move(part)));
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
    VisitLoops(program, Path(), [&](const Path& path, const Loop& loop) {
      if (!CheckShape(loop).ok()) return;
      Thresholds thresholds(loop.var, loop.extent,
                            ValueRanges(program.LoopsAbove(path)));
      thresholds.Visit(program.At(path));
      for (int64_t count : thresholds.counts()) {
        steps.push_back({"peel", path, {count}});
      }
    });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 1, "COUNT"));
    HONE_ASSIGN_OR_RETURN(const Loop* loop, FindLoop(program, step));
    const int64_t count = step.parameters[0];
    HONE_RETURN_IF_ERROR(Check(*loop, count));

    Program result = program;
    const ValueRanges ranges(program.LoopsAbove(step.path));
    std::vector<Node> nodes = Part(*loop, 0, count, ranges);
    const Node second = Duplicate(result, program.At(step.path));
    for (Node& node :
         Part(*second.loop(), count, loop->extent - count, ranges)) {
      nodes.push_back(std::move(node));
    }
    result.Replace(step.path, std::move(nodes));
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakePeel() { return std::make_unique<Peel>(); }

}  // namespace hone::loops
