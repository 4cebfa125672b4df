// parallelise PATH: threads share out the iterations of a scope.
//
//   for i 1024       →    for i 1024 parallel
//
// Legal where no iteration depends on another one, reductions included, and no
// scope above or below is parallel. Pays for outer scopes with enough work in
// each iteration to be worth waking threads.

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/dependences.h"
#include "loops/rewrite.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

bool HasParallel(const Node& node) {
  const Scope* scope = node.scope();
  return scope != nullptr &&
         (scope->mode == ScopeMode::kParallel ||
          std::any_of(scope->body.begin(), scope->body.end(), HasParallel));
}

absl::Status Check(const Program& program, const Path& path,
                   const Scope& scope) {
  if (scope.mode != ScopeMode::kSequential) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the scope is ", ModeName(scope.mode), ", expected sequential"));
  }
  for (const Scope* above : program.ScopesAbove(path)) {
    if (above->mode == ScopeMode::kParallel) {
      return absl::InvalidArgumentError("a scope above is parallel");
    }
  }
  if (HasParallel(program.At(path))) {
    return absl::InvalidArgumentError("a scope below is parallel");
  }
  if (CarriesDependence(program, path, {.reorder_reductions = false})) {
    return absl::InvalidArgumentError("iterations depend on each other");
  }
  return absl::OkStatus();
}

class Parallelise final : public Transform {
 public:
  absl::string_view name() const override { return "parallelise"; }

  void Enumerate(const Program& program, const Machine& machine,
                 std::vector<Step>& steps) const override {
    if (machine.threads < 2) return;
    VisitScopes(program, Path(), [&](const Path& path, const Scope& scope) {
      if (scope.extent >= 2 && Check(program, path, scope).ok()) {
        steps.push_back({"parallelise", path, {}});
      }
    });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 0, "none"));
    HONE_ASSIGN_OR_RETURN(const Scope* scope, FindScope(program, step));
    HONE_RETURN_IF_ERROR(Check(program, step.path, *scope));
    Scope parallel = *scope;
    parallel.mode = ScopeMode::kParallel;
    parallel.prefetch = 0;
    Program result = program;
    result.ReplaceScope(step.path, std::move(parallel));
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakeParallelise() {
  return std::make_unique<Parallelise>();
}

}  // namespace hone::loops
