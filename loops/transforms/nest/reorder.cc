// reorder PATH: interchanges a loop and its only child.
//
//   for i 8                 for j 4
//   | for j 4          →    | for i 8
//   | | y[j,i] = x[j,i]     | | y[j,i] = x[j,i]
//
// Legal if it reverses no dependence: none leads to a later iteration of the
// outer loop and an earlier one of the inner loop. Reductions may be reordered.
// The inner bound must not depend on the outer loop, and the outer loop must
// have no locals, which carry values from one inner iteration to the next.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/analysis/dependences.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

absl::Status CheckShape(const Loop& outer) {
  if (outer.body.size() != 1 || outer.body[0].loop() == nullptr) {
    return absl::InvalidArgumentError(
        "the loop has children other than a single loop");
  }
  const Loop& inner = *outer.body[0].loop();
  // Threads share out the outer of two loops: what holds for a parallel loop
  // holds further in, but not further out.
  if (inner.mode != LoopMode::kSequential &&
      inner.mode != LoopMode::kUnrolled) {
    return absl::InvalidArgumentError(
        absl::StrCat("the inner loop is ", ModeName(inner.mode),
                     ", expected sequential or unrolled"));
  }
  if (inner.bound.has_value() && inner.bound->Uses(outer.var)) {
    return absl::InvalidArgumentError(
        "the inner loop's bound depends on the outer one");
  }
  if (!outer.locals.empty()) {
    return absl::InvalidArgumentError("the outer loop has locals");
  }
  return absl::OkStatus();
}

// Returns true if some iteration that is earlier in the outer loop at `path`
// and later in the inner one must stay before another.
bool ReversesDependence(const Program& program, const Path& path) {
  const std::vector<AccessSite> sites = CollectAccesses(program, path);
  std::vector<Direction> directions;
  for (const AccessSite& a : sites) {
    for (const AccessSite& b : sites) {
      if (a.access.buffer != b.access.buffer || Commute(a, b)) continue;
      directions.assign(CommonLoops(a, b), Direction::kAny);
      std::fill_n(directions.begin(), path.size() - 1, Direction::kSame);
      directions[path.size() - 1] = Direction::kEarlier;
      directions[path.size()] = Direction::kLater;
      if (MayConflict(program, a, b, directions)) return true;
    }
  }
  return false;
}

absl::Status Check(const Program& program, const Path& path,
                   const Loop& outer) {
  HONE_RETURN_IF_ERROR(CheckShape(outer));
  if (ReversesDependence(program, path)) {
    return absl::InvalidArgumentError(
        "iterations that depend on each other would change their order");
  }
  return absl::OkStatus();
}

class Reorder final : public Transform {
 public:
  absl::string_view name() const override { return "reorder"; }
  bool changes_rounding() const override { return true; }

  void Enumerate(const Program& program, const Machine&,
                 std::vector<Step>& steps) const override {
    VisitLoops(program, Path(), [&](const Path& path, const Loop& loop) {
      if (Check(program, path, loop).ok()) {
        steps.push_back({"reorder", path, {}});
      }
    });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 0, "none"));
    HONE_ASSIGN_OR_RETURN(const Loop* outer, FindLoop(program, step));
    HONE_RETURN_IF_ERROR(Check(program, step.path, *outer));
    // Locals begin anew in each iteration of both: they belong to the inner.
    const Loop& inner = *outer->body[0].loop();
    auto new_inner = std::make_shared<Loop>(*outer);
    new_inner->locals = inner.locals;
    new_inner->body = inner.body;
    Loop new_outer = inner;
    new_outer.locals.clear();
    new_outer.body = {Node(std::shared_ptr<const Loop>(std::move(new_inner)))};
    Program result = program;
    result.ReplaceLoop(step.path, std::move(new_outer));
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakeReorder() { return std::make_unique<Reorder>(); }

}  // namespace hone::loops
