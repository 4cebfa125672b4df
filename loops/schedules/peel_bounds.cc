#include "loops/schedules/peel_bounds.h"

#include <cstddef>
#include <optional>

#include "loops/rewrite.h"

namespace hone::loops {
namespace {

// Whether a scope in `scope` has a bound in the variable of `outer`.
bool HasBoundIn(const Scope& scope, VarId outer) {
  for (const Node& node : scope.body) {
    const Scope* const inner = node.scope();
    if (inner == nullptr) continue;
    if (inner->bound.has_value() && inner->bound->Uses(outer)) return true;
    if (HasBoundIn(*inner, outer)) return true;
  }
  return false;
}

}  // namespace

void PeelBounds(Scheduler& s, const Path& path) {
  const auto siblings = [&] {
    const Path above(path.begin(), path.end() - 1);
    return above.empty() ? s.program().body().size()
                         : s.program().At(above).scope()->body.size();
  };
  const size_t before = siblings();
  // The nest itself, then the parts that come off it.
  Path part = path;
  for (size_t done = 0; done <= siblings() - before;) {
    std::optional<Path> at;
    VisitScopes(s.program(), part, [&](const Path& here, const Scope& scope) {
      if (!at.has_value() && scope.extent > 1 && HasBoundIn(scope, scope.var) &&
          scope.mode == ScopeMode::kSequential) {
        at = here;
      }
    });
    if (at.has_value() &&
        s.Do("peel", *at, {s.program().At(*at).scope()->extent - 1})) {
      continue;
    }
    ++done;
    ++part.back();
  }
}

}  // namespace hone::loops
