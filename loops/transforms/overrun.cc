// overrun PATH: a scope with a bound runs all of its iterations, those past the
// bound too.
//
//   for j 8 < 13-8*i          for j 8
//   | a[8*i+j] += …      →    | a[8*i+j] += …
//
// For scopes of statements that write to locals. Legal where nothing that
// counts reads what the additional iterations write, and where what these read
// is there and has a value. Pays for vectors, which need no masks then: a tile
// in registers at the edge of a result is computed whole, and only what copies
// it out keeps its bound.

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/dependences.h"
#include "loops/rewrite.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/coverage.h"
#include "loops/transforms/footprint.h"
#include "loops/transforms/locals.h"
#include "loops/transforms/registry.h"
#include "loops/verifier.h"

namespace hone::loops {
namespace {

bool Reads(const AccessSite& site) {
  return !site.is_write || site.combine.has_value();
}

absl::Status CheckShape(const Program& program, const Scope& scope) {
  if (!scope.bound.has_value()) {
    return absl::InvalidArgumentError("the scope has no bound");
  }
  if (scope.mode == ScopeMode::kParallel) {
    return absl::InvalidArgumentError("the scope is parallel");
  }
  for (const Node& node : scope.body) {
    if (node.statement() == nullptr) {
      return absl::InvalidArgumentError("the scope has scopes in it");
    }
    const Statement& statement = *node.statement();
    if (!program.buffer(statement.target.buffer).IsLocal()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the scope writes ", program.buffer(statement.target.buffer).name,
          ", which is no local"));
    }
    bool has_offset = false;
    VisitAccesses(statement, [&](const Access& access, bool) {
      for (const Index& index : access.indices) {
        has_offset = has_offset || index.offset != nullptr;
      }
    });
    if (has_offset) {
      return absl::InvalidArgumentError("an index in it depends on data");
    }
  }
  return absl::OkStatus();
}

// `program` with the iterations past the bound as a scope of their own, which
// follows the one at `path`.
Program WithRest(const Program& program, const Path& path) {
  Program result = program;
  const Scope& scope = *program.At(path).scope();
  const VarId var = result.NewVar();
  auto rest = std::make_shared<Scope>(scope);
  rest->var = var;
  // They begin at the bound, even where that is below zero.
  const int64_t lowest = RangeOf(*scope.bound, program.ScopesAbove(path)).lo;
  rest->extent -= std::min<int64_t>(lowest, 0);
  rest->bound = Affine(scope.extent) - *scope.bound;
  rest->body =
      Substitute(scope.body, scope.var, *scope.bound + Affine::Var(var));
  result.Replace(path, {program.At(path), std::shared_ptr<const Scope>(rest)});
  return result;
}

// Errors: InvalidArgument where something else may read what the iterations
// past the bound write.
absl::Status CheckWrites(const Program& program, const Path& path) {
  const Program both = WithRest(program, path);
  const Path rest = Sibling(path, 1);
  for (const AccessSite& write : CollectAccesses(both, rest)) {
    if (!write.is_write) continue;
    for (const AccessSite& read : SitesOf(both, Path(), write.access.buffer)) {
      if (!Reads(read) || IsAtOrBelow(read.path, rest)) continue;
      const std::vector<Direction> any(CommonScopes(write, read),
                                       Direction::kAny);
      if (MayConflict(both, write, read, any)) {
        return absl::InvalidArgumentError(absl::StrCat(
            "what iterations past the bound write to ",
            both.buffer(write.access.buffer).name, " may be read"));
      }
    }
  }
  return absl::OkStatus();
}

// Errors: InvalidArgument where the scope at `path` may read what has no value.
absl::Status CheckReads(const Program& program, const Path& path) {
  for (const AccessSite& read : CollectAccesses(program, path)) {
    const Memory memory = program.buffer(read.access.buffer).memory;
    if (!Reads(read) || memory == Memory::kArgument ||
        memory == Memory::kConstant) {
      continue;
    }
    const Path above =
        FindDeclaration(program, read.access.buffer).value_or(Path());
    if (!IsCovered(program, above, read)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "iterations past the bound may read elements of ",
          program.buffer(read.access.buffer).name, " that have no value"));
    }
  }
  return absl::OkStatus();
}

class Overrun final : public Transform {
 public:
  absl::string_view name() const override { return "overrun"; }

  void Enumerate(const Program& program, const Machine&,
                 std::vector<Step>& steps) const override {
    VisitScopes(program, Path(), [&](const Path& path, const Scope&) {
      const Step step = {"overrun", path, {}};
      if (Apply(program, step).ok()) steps.push_back(step);
    });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 0, "none"));
    HONE_ASSIGN_OR_RETURN(const Scope* scope, FindScope(program, step));
    HONE_RETURN_IF_ERROR(CheckShape(program, *scope));
    HONE_RETURN_IF_ERROR(CheckWrites(program, step.path));
    Scope whole = *scope;
    whole.bound.reset();
    Program result = program;
    result.ReplaceScope(step.path, std::move(whole));
    HONE_RETURN_IF_ERROR(CheckReads(result, step.path));
    // That all indices stay in bounds.
    HONE_RETURN_IF_ERROR(VerifyProgram(result));
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakeOverrun() { return std::make_unique<Overrun>(); }

}  // namespace hone::loops
