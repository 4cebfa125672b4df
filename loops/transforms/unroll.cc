// unroll PATH: the iterations of a scope are written out.
//
//   for i 4          →    for i 4 unrolled
//
// Legal always; refused where the code would become large, and for scopes of
// which the modes say already how they run. Pays for short scopes inside of
// others: independent iterations overlap, and what all of them load is loaded
// once. Around a scope that is not unrolled itself it only repeats code.

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/rewrite.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

// Statements that one scope may become when it is written out.
constexpr int64_t kMaxStatements = 512;
// Extents up to which unrolling is worth a try.
constexpr int64_t kMaxUsefulExtent = 16;

// How many statements are at `node` once scopes in it are written out.
int64_t WrittenOut(const Node& node) {
  if (node.statement() != nullptr) return 1;
  int64_t statements = 0;
  for (const Node& child : node.scope()->body) statements += WrittenOut(child);
  const bool unrolled = node.scope()->mode == ScopeMode::kUnrolled;
  return statements * (unrolled ? node.scope()->extent : 1);
}

absl::Status Check(const Program& program, const Path& path,
                   const Scope& scope) {
  if (scope.mode != ScopeMode::kSequential) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the scope is ", ModeName(scope.mode), ", expected sequential"));
  }
  if (scope.extent > kMaxStatements) {
    return absl::InvalidArgumentError(absl::StrCat(
        "extent ", scope.extent, ", expected at most ", kMaxStatements));
  }
  int64_t statements = WrittenOut(program.At(path)) * scope.extent;
  for (const Scope* above : program.ScopesAbove(path)) {
    if (above->mode == ScopeMode::kUnrolled) statements *= above->extent;
  }
  if (statements > kMaxStatements) {
    return absl::InvalidArgumentError(
        absl::StrCat(statements,
                     " statements when written out, expected at "
                     "most ",
                     kMaxStatements));
  }
  return absl::OkStatus();
}

bool IsStraightLine(const Scope& scope) {
  return std::all_of(scope.body.begin(), scope.body.end(),
                     [](const Node& node) {
                       return node.statement() != nullptr ||
                              node.scope()->mode == ScopeMode::kUnrolled ||
                              node.scope()->mode == ScopeMode::kVector;
                     });
}

class Unroll final : public Transform {
 public:
  absl::string_view name() const override { return "unroll"; }

  void Enumerate(const Program& program, const Machine&,
                 std::vector<Step>& steps) const override {
    VisitScopes(program, Path(), [&](const Path& path, const Scope& scope) {
      if (scope.extent <= kMaxUsefulExtent && IsStraightLine(scope) &&
          Check(program, path, scope).ok()) {
        steps.push_back({"unroll", path, {}});
      }
    });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 0, "none"));
    HONE_ASSIGN_OR_RETURN(const Scope* scope, FindScope(program, step));
    HONE_RETURN_IF_ERROR(Check(program, step.path, *scope));
    Scope unrolled = *scope;
    unrolled.mode = ScopeMode::kUnrolled;
    unrolled.prefetch = 0;
    Program result = program;
    result.ReplaceScope(step.path, std::move(unrolled));
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakeUnroll() { return std::make_unique<Unroll>(); }

}  // namespace hone::loops
