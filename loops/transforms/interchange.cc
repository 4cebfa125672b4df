// interchange PATH: a scope and its only child change places.
//
//   for i 8                 for j 4
//   | for j 4          →    | for i 8
//   | | y[j,i] = x[j,i]     | | y[j,i] = x[j,i]
//
// Legal where no two iterations that depend on each other change their order:
// none that is later in the outer scope and earlier in the inner one. The
// combining of reductions may change its order. The inner bound must not depend
// on the outer scope, nor the outer scope have locals, which keep values from
// one inner iteration to the next.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/dependences.h"
#include "loops/rewrite.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

absl::Status CheckShape(const Scope& outer) {
  if (outer.body.size() != 1 || outer.body[0].scope() == nullptr) {
    return absl::InvalidArgumentError(
        "the scope has other children than a single scope");
  }
  const Scope& inner = *outer.body[0].scope();
  // Threads share out the outer of two scopes: what holds for a parallel scope
  // holds further in, but not further out.
  if (inner.mode != ScopeMode::kSequential &&
      inner.mode != ScopeMode::kUnrolled) {
    return absl::InvalidArgumentError(
        absl::StrCat("the inner scope is ", ModeName(inner.mode),
                     ", expected sequential or unrolled"));
  }
  if (inner.bound.has_value() && inner.bound->Uses(outer.var)) {
    return absl::InvalidArgumentError(
        "the inner scope's bound depends on the outer one");
  }
  if (!outer.locals.empty()) {
    return absl::InvalidArgumentError("the outer scope has locals");
  }
  return absl::OkStatus();
}

// Whether some iteration that is earlier in the outer scope at `path` and later
// in the inner one must stay before another.
bool ReversesDependence(const Program& program, const Path& path) {
  const std::vector<AccessSite> sites = CollectAccesses(program, path);
  std::vector<Direction> directions;
  for (const AccessSite& a : sites) {
    for (const AccessSite& b : sites) {
      if (a.access.buffer != b.access.buffer || MayChangePlaces(a, b)) continue;
      directions.assign(CommonScopes(a, b), Direction::kAny);
      std::fill_n(directions.begin(), path.size() - 1, Direction::kSame);
      directions[path.size() - 1] = Direction::kEarlier;
      directions[path.size()] = Direction::kLater;
      if (MayConflict(program, a, b, directions)) return true;
    }
  }
  return false;
}

absl::Status Check(const Program& program, const Path& path,
                   const Scope& outer) {
  HONE_RETURN_IF_ERROR(CheckShape(outer));
  if (ReversesDependence(program, path)) {
    return absl::InvalidArgumentError(
        "iterations that depend on each other would change their order");
  }
  return absl::OkStatus();
}

class Interchange final : public Transform {
 public:
  absl::string_view name() const override { return "interchange"; }
  bool changes_rounding() const override { return true; }

  void Enumerate(const Program& program, const Machine&,
                 std::vector<Step>& steps) const override {
    VisitScopes(program, Path(), [&](const Path& path, const Scope& scope) {
      if (Check(program, path, scope).ok()) {
        steps.push_back({"interchange", path, {}});
      }
    });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 0, "none"));
    HONE_ASSIGN_OR_RETURN(const Scope* outer, FindScope(program, step));
    HONE_RETURN_IF_ERROR(Check(program, step.path, *outer));
    // Locals begin anew in each iteration of both: they belong to the inner.
    const Scope& inner = *outer->body[0].scope();
    auto new_inner = std::make_shared<Scope>(*outer);
    new_inner->locals = inner.locals;
    new_inner->body = inner.body;
    Scope new_outer = inner;
    new_outer.locals.clear();
    new_outer.body = {Node(std::shared_ptr<const Scope>(std::move(new_inner)))};
    Program result = program;
    result.ReplaceScope(step.path, std::move(new_outer));
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakeInterchange() {
  return std::make_unique<Interchange>();
}

}  // namespace hone::loops
