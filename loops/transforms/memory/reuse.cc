// reuse PATH FIRST SECOND: lets two locals that the loop at PATH (- for the
// root) declares, of equal type, size and memory, share the memory of the
// first.
//
//   t[i] = exp(x[i]); … u[i] = t[i] / s; …  →  t[i] = t[i] / s; …
//
// Legal if nothing reads the first local once the second is initialized: all
// accesses of the first are in earlier children of the loop, except in one
// statement that initializes the second, each element once, from the same
// element of the first only.

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/analysis/footprint.h"
#include "loops/transforms/analysis/same_expression.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/locals.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

// Returns true if the statement reads and writes one place, another one each
// time it is carried out in an iteration of the loop at `path`.
bool IsInPlace(const Program& program, const Path& path,
               const std::vector<AccessSite>& first, const AccessSite& second) {
  for (const AccessSite& site : first) {
    Access renamed = site.access;
    renamed.buffer = second.access.buffer;
    if (site.path == second.path && !SameAccess(renamed, second.access)) {
      return false;
    }
  }
  const std::vector<const Loop*> below = LoopsBetween(program, path, second);
  return !second.combine.has_value() &&
         TouchesEachOnce(program, second, below) &&
         std::all_of(below.begin(), below.end(), [&](const Loop* loop) {
           return std::any_of(second.access.indices.begin(),
                              second.access.indices.end(),
                              [&](const Index& index) {
                                return index.affine.Uses(loop->var);
                              });
         });
}

absl::Status Check(const Program& program, const Path& path, BufferId first,
                   BufferId second) {
  const std::optional<Path> first_at = FindDeclaration(program, first);
  const std::optional<Path> second_at = FindDeclaration(program, second);
  if (first == second || first_at != path || second_at != path) {
    return absl::InvalidArgumentError(
        "expected two locals that the loop declares");
  }
  const Buffer& a = program.buffer(first);
  const Buffer& b = program.buffer(second);
  if (a.type != b.type || a.dimensions != b.dimensions ||
      a.strides != b.strides || a.memory != b.memory) {
    return absl::InvalidArgumentError(
        "the locals differ in type, size or memory");
  }
  const std::vector<AccessSite> of_first = SitesOf(program, path, first);
  const std::vector<AccessSite> of_second = SitesOf(program, path, second);
  if (of_first.empty() || of_second.empty()) {
    return absl::InvalidArgumentError("a local is not used");
  }
  const auto child = [&](const AccessSite& site) {
    return site.path[path.size()];
  };
  const int32_t last = child(of_first.back());
  const int32_t begin = child(of_second.front());
  if (last < begin) return absl::OkStatus();
  if (last > begin) {
    return absl::InvalidArgumentError("both locals are needed at once");
  }
  // In one child both may only be used by one statement.
  const Path& shared = of_second.front().path;
  for (const AccessSite& site : of_first) {
    if (child(site) == begin && (site.path != shared || site.is_write)) {
      return absl::InvalidArgumentError("both locals are needed at once");
    }
  }
  for (const AccessSite& site : of_second) {
    if (child(site) == begin && (site.path != shared || !site.is_write)) {
      return absl::InvalidArgumentError("both locals are needed at once");
    }
  }
  if (!IsInPlace(program, path, of_first, of_second.front())) {
    return absl::InvalidArgumentError(
        "the second local's elements do not each depend on the same one of "
        "the first");
  }
  return absl::OkStatus();
}

class Reuse final : public Transform {
 public:
  absl::string_view name() const override { return "reuse"; }
  int32_t buffer_parameters() const override { return 2; }

  void Enumerate(const Program& program, const Machine&,
                 std::vector<Step>& steps) const override {
    const auto try_pairs = [&](const Path& path,
                               const std::vector<BufferId>& locals) {
      for (BufferId first : locals) {
        for (BufferId second : locals) {
          if (Check(program, path, first, second).ok()) {
            steps.push_back({"reuse", path, {first, second}});
          }
        }
      }
    };
    try_pairs(Path(), program.locals());
    VisitLoops(program, Path(), [&](const Path& path, const Loop& loop) {
      try_pairs(path, loop.locals);
    });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 2, "FIRST SECOND"));
    HONE_ASSIGN_OR_RETURN(const BufferId first,
                          BufferParameter(program, step, 0));
    HONE_ASSIGN_OR_RETURN(const BufferId second,
                          BufferParameter(program, step, 1));
    HONE_RETURN_IF_ERROR(Check(program, step.path, first, second));
    Program result = program;
    RemoveDeclaration(result, second);
    std::vector<Node> body = BodyAt(result, step.path);
    for (Node& node : body) {
      node = MapAccesses(node, [&](const Access& access) {
        Access renamed = access;
        if (renamed.buffer == second) renamed.buffer = first;
        return renamed;
      });
    }
    SetBody(result, step.path, std::move(body));
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakeReuse() { return std::make_unique<Reuse>(); }

}  // namespace hone::loops
