#include "loops/schedules/peel_bounds.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"

#include "loops/ir/rewrite.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/locals.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

// Returns true if a loop inside `loop` has a bound that depends on `outer`.
bool HasBoundIn(const Loop& loop, VarId outer) {
  for (const Node& node : loop.body) {
    const Loop* const inner = node.loop();
    if (inner == nullptr) continue;
    if (inner->bound.has_value() && inner->bound->Uses(outer)) return true;
    if (HasBoundIn(*inner, outer)) return true;
  }
  return false;
}

// Iterations of an unrolled loop after which its vectors are past their bound;
// nullopt where none are.
std::optional<int64_t> UsefulIterations(const Loop& loop) {
  if (loop.mode != LoopMode::kUnrolled || loop.body.size() != 1) {
    return std::nullopt;
  }
  const Loop* const vector = loop.body[0].loop();
  if (vector == nullptr || !vector->bound.has_value()) return std::nullopt;
  const int64_t step = -vector->bound->coefficient(loop.var);
  const Affine first = *vector->bound + Affine::Var(loop.var, step);
  if (step <= 0 || !first.IsConstant()) return std::nullopt;
  const int64_t count = (first.constant() + step - 1) / step;
  if (count < 1 || count >= loop.extent) return std::nullopt;
  return count;
}

bool HasLocals(const Loop& loop) {
  return !loop.locals.empty() ||
         absl::c_any_of(loop.body, [](const Node& node) {
           return node.loop() != nullptr && HasLocals(*node.loop());
         });
}

// The next step of PeelRanges from `at` on: in the outermost loop, and there
// the last iterations first, so that the others keep their place.
std::optional<Step> NextRange(const Scheduler& s, const Path& path,
                              size_t parts) {
  std::vector<Step> steps;
  (*FindTransform("peel"))->Enumerate(s.program(), s.machine(), steps);
  std::optional<Step> next;
  for (Step& step : steps) {
    if (step.path.size() < path.size() ||
        !IsAtOrBelow(Prefix(step.path, path.size() - 1), Parent(path)) ||
        step.path[path.size() - 1] < path.back() ||
        step.path[path.size() - 1] >=
            path.back() + static_cast<int32_t>(parts) ||
        !HasLocals(*s.program().At(step.path).loop())) {
      continue;
    }
    if (next.has_value() && next->path != step.path) break;
    next = std::move(step);
  }
  return next;
}

}  // namespace

void PeelBounds(Scheduler& s, const Path& path) {
  const auto siblings = [&] {
    return BodyAt(s.program(), Parent(path)).size();
  };
  const size_t before = siblings();
  // The nest itself, then the parts that come off it.
  Path part = path;
  for (size_t done = 0; done <= siblings() - before;) {
    std::optional<Path> at;
    VisitLoops(s.program(), part, [&](const Path& here, const Loop& loop) {
      if (!at.has_value() && loop.extent > 1 && HasBoundIn(loop, loop.var) &&
          loop.mode == LoopMode::kSequential) {
        at = here;
      }
    });
    if (at.has_value() &&
        s.Try("peel", *at, {s.program().At(*at).loop()->extent - 1})) {
      continue;
    }
    ++done;
    ++part.back();
  }
}

void PeelRanges(Scheduler& s, const Path& path, int most) {
  const size_t others = BodyAt(s.program(), Parent(path)).size() - 1;
  for (int i = 0; i < most; ++i) {
    const size_t parts = BodyAt(s.program(), Parent(path)).size() - others;
    const std::optional<Step> step = NextRange(s, path, parts);
    if (!step.has_value() ||
        !s.Try(step->transform, step->path, step->parameters)) {
      return;
    }
  }
}

bool PeelLongRange(Scheduler& s, const Path& path, int64_t least) {
  const int64_t extent = s.program().At(path).loop()->extent;
  if (extent < 2 * least) return false;
  std::vector<Step> steps;
  (*FindTransform("peel"))->Enumerate(s.program(), s.machine(), steps);
  for (const Step& step : steps) {
    if (step.path == path && step.parameters[0] >= least &&
        extent - step.parameters[0] >= least) {
      return s.Try(step.transform, step.path, step.parameters);
    }
  }
  return false;
}

void ComputeWholeVectors(Scheduler& s, const Path& path) {
  for (std::optional<Path> at = path; at.has_value();) {
    at.reset();
    VisitLoops(s.program(), path, [&](const Path& here, const Loop& loop) {
      if (!at.has_value() && UsefulIterations(loop).has_value()) at = here;
    });
    if (at.has_value() &&
        !s.Try("peel", *at, {*UsefulIterations(*s.program().At(*at).loop())})) {
      break;
    }
  }
  std::vector<Path> bounded;
  VisitLoops(s.program(), path, [&](const Path& here, const Loop& loop) {
    if (loop.mode == LoopMode::kVector && loop.bound.has_value()) {
      bounded.push_back(here);
    }
  });
  for (const Path& here : bounded) s.Try("overrun", here);
}

}  // namespace hone::loops
