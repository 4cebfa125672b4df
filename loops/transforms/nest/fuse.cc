// fuse PATH: fuses a loop and the loop after it (loop fusion; Halide and TVM
// use the name for what is called collapse here).
//
//   for i 8               for i 8
//   | t[i] = x[i]    →    | t[i] = x[i]
//   for i 8               | y[i] = t[i]
//   | y[i] = t[i]
//
// For loops of equal extent, bound and mode. Legal if the second loop neither
// needs nor overwrites anything that later iterations of the first one do; in
// parallel and vector loops, anything of other iterations at all. Reductions
// may be reordered. Pays off if the second loop reuses what the first has just
// touched, but not if both together exceed the registers or the ways of a
// cache.

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

absl::Status CheckShape(const Loop& first, const Node* next) {
  if (next == nullptr || next->loop() == nullptr) {
    return absl::InvalidArgumentError("no loop follows");
  }
  const Loop& second = *next->loop();
  if (first.extent != second.extent || first.bound != second.bound) {
    return absl::InvalidArgumentError(
        absl::StrCat("extents ", first.extent, " and ", second.extent,
                     ", expected equal extents and bounds"));
  }
  if (first.mode != second.mode) {
    return absl::InvalidArgumentError(
        absl::StrCat("modes ", ModeName(first.mode), " and ",
                     ModeName(second.mode), ", expected equal ones"));
  }
  return absl::OkStatus();
}

Program Fuse(const Program& program, const Path& path) {
  Program result = program;
  auto fused = std::make_shared<Loop>(*program.At(path).loop());
  Node second = program.At(Sibling(path, 1));
  // A loop in the second may have the variable of the first.
  if (second.loop()->var != fused->var) second = WithNewVars(result, second);
  const Loop& from = *second.loop();
  const std::vector<Node> body =
      Substitute(from.body, from.var, Affine::Var(fused->var));
  fused->body.insert(fused->body.end(), body.begin(), body.end());
  fused->locals.insert(fused->locals.end(), from.locals.begin(),
                       from.locals.end());
  result.Replace(Sibling(path, 1), {});
  result.Replace(path, {Node(std::shared_ptr<const Loop>(std::move(fused)))});
  return result;
}

// Returns true if a dependence is reversed in `fused`, whose loop at `path` has
// the children of the first loop up to `split`.
bool ReversesDependence(const Program& fused, const Path& path, size_t split) {
  const std::vector<AccessSite> sites = CollectAccesses(fused, path);
  const size_t depth = path.size() - 1;
  const bool in_order = fused.At(path).loop()->mode == LoopMode::kSequential ||
                        fused.At(path).loop()->mode == LoopMode::kUnrolled;
  std::vector<Direction> directions(path.size(), Direction::kSame);
  const auto is_first = [&](const AccessSite& site) {
    return static_cast<size_t>(site.path[depth + 1]) < split;
  };
  for (const AccessSite& a : sites) {
    if (!is_first(a)) break;
    for (const AccessSite& b : sites) {
      if (is_first(b) || a.access.buffer != b.access.buffer) continue;
      if (!a.is_write && !b.is_write) continue;
      if (in_order && Commute(a, b)) continue;
      directions[depth] = Direction::kEarlier;
      if (MayConflict(fused, b, a, directions)) return true;
      if (in_order) continue;
      directions[depth] = Direction::kLater;
      if (MayConflict(fused, b, a, directions)) return true;
    }
  }
  return false;
}

absl::StatusOr<Program> TryFuse(const Program& program, const Path& path,
                                const Loop& first) {
  HONE_RETURN_IF_ERROR(CheckShape(first, NextSibling(program, path)));
  Program fused = Fuse(program, path);
  if (ReversesDependence(fused, path, first.body.size())) {
    return absl::InvalidArgumentError(
        "iterations that depend on each other would change their order");
  }
  return fused;
}

class FuseLoops final : public Transform {
 public:
  absl::string_view name() const override { return "fuse"; }
  bool changes_rounding() const override { return true; }

  void Enumerate(const Program& program, const Machine&,
                 std::vector<Step>& steps) const override {
    VisitLoops(program, Path(), [&](const Path& path, const Loop& loop) {
      if (TryFuse(program, path, loop).ok()) {
        steps.push_back({"fuse", path, {}});
      }
    });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 0, "none"));
    HONE_ASSIGN_OR_RETURN(const Loop* first, FindLoop(program, step));
    return TryFuse(program, step.path, *first);
  }
};

}  // namespace

std::unique_ptr<Transform> MakeFuse() { return std::make_unique<FuseLoops>(); }

}  // namespace hone::loops
