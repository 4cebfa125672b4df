// fission PATH POSITION: a scope becomes two, the second with the children from
// POSITION on.
//
//   for i 8               for i 8
//   | t[i] = x[i]    →    | t[i] = x[i]
//   | y[i] = t[i]         for i 8
//                         | y[i] = t[i]
//
// Legal where nothing in the first part needs what the second part does in
// earlier iterations, nor spoils it, and no local of the scope is used by both.
// The combining of reductions may change its order. Pays as a step to loop
// nests without other statements between, which interchange needs.

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

bool Mention(absl::Span<const Node> nodes, BufferId buffer) {
  return std::any_of(nodes.begin(), nodes.end(), [buffer](const Node& node) {
    return Mentions(node, buffer);
  });
}

absl::Status Check(const Program& program, const Path& path, const Scope& scope,
                   int64_t position, const std::vector<AccessSite>& sites) {
  const size_t split = static_cast<size_t>(position);
  if (position < 1 || split >= scope.body.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("position ", position, ", expected 1 … ",
                     static_cast<int64_t>(scope.body.size()) - 1));
  }
  const absl::Span<const Node> body = scope.body;
  for (BufferId local : scope.locals) {
    if (Mention(body.subspan(0, split), local) &&
        Mention(body.subspan(split), local)) {
      return absl::InvalidArgumentError(
          absl::StrCat("local ", program.buffer(local).name,
                       " of the scope is used on both sides"));
    }
  }
  const size_t depth = path.size() - 1;
  std::vector<Direction> directions(path.size(), Direction::kSame);
  directions[depth] = Direction::kEarlier;
  const auto is_first = [&](const AccessSite& site) {
    return static_cast<size_t>(site.path[depth + 1]) < split;
  };
  for (const AccessSite& a : sites) {
    if (!is_first(a)) break;
    for (const AccessSite& b : sites) {
      if (is_first(b) || a.access.buffer != b.access.buffer ||
          MayChangePlaces(a, b)) {
        continue;
      }
      if (MayConflict(program, b, a, directions)) {
        return absl::InvalidArgumentError(
            "iterations that depend on each other would change their order");
      }
    }
  }
  return absl::OkStatus();
}

// `scope` with the children from `begin` up to `end`, and the locals that these
// use.
Node Part(const Scope& scope, size_t begin, size_t end) {
  auto part = std::make_shared<Scope>();
  part->var = scope.var;
  part->extent = scope.extent;
  part->bound = scope.bound;
  part->mode = scope.mode;
  part->body.assign(scope.body.begin() + static_cast<ptrdiff_t>(begin),
                    scope.body.begin() + static_cast<ptrdiff_t>(end));
  for (BufferId local : scope.locals) {
    if (Mention(part->body, local)) part->locals.push_back(local);
  }
  return std::shared_ptr<const Scope>(std::move(part));
}

class Fission final : public Transform {
 public:
  absl::string_view name() const override { return "fission"; }
  bool changes_rounding() const override { return true; }

  void Enumerate(const Program& program, const Machine&,
                 std::vector<Step>& steps) const override {
    VisitScopes(program, Path(), [&](const Path& path, const Scope& scope) {
      if (scope.body.size() < 2) return;
      const std::vector<AccessSite> sites = CollectAccesses(program, path);
      const auto last = static_cast<int64_t>(scope.body.size()) - 1;
      for (int64_t position = 1; position <= last; ++position) {
        if (Check(program, path, scope, position, sites).ok()) {
          steps.push_back({"fission", path, {position}});
        }
      }
    });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 1, "POSITION"));
    HONE_ASSIGN_OR_RETURN(const Scope* scope, FindScope(program, step));
    const int64_t position = step.parameters[0];
    HONE_RETURN_IF_ERROR(Check(program, step.path, *scope, position,
                               CollectAccesses(program, step.path)));
    const size_t split = static_cast<size_t>(position);
    Program result = program;
    result.Replace(step.path, {Part(*scope, 0, split),
                               Part(*scope, split, scope->body.size())});
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakeFission() { return std::make_unique<Fission>(); }

}  // namespace hone::loops
