// parallelize PATH: divides the iterations of a loop among threads.
//
//   for i 1024       →    for i 1024 parallel
//
// Legal if no iteration depends on another one, including through reductions,
// and no loop above or below is parallel. Pays off for outer loops whose
// iterations have enough work to be worth waking threads.

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/analysis/dependences.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

bool HasParallel(const Node& node) {
  const Loop* loop = node.loop();
  return loop != nullptr &&
         (loop->mode == LoopMode::kParallel ||
          std::any_of(loop->body.begin(), loop->body.end(), HasParallel));
}

absl::Status Check(const Program& program, const Path& path, const Loop& loop) {
  if (loop.mode != LoopMode::kSequential) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the loop is ", ModeName(loop.mode), ", expected sequential"));
  }
  for (const Loop* above : program.LoopsAbove(path)) {
    if (above->mode == LoopMode::kParallel) {
      return absl::InvalidArgumentError("a loop above is parallel");
    }
  }
  if (HasParallel(program.At(path))) {
    return absl::InvalidArgumentError("a loop below is parallel");
  }
  if (CarriesDependence(program, path, {.reorder_reductions = false})) {
    return absl::InvalidArgumentError("iterations depend on each other");
  }
  return absl::OkStatus();
}

class Parallelize final : public Transform {
 public:
  absl::string_view name() const override { return "parallelize"; }

  void Enumerate(const Program& program, const Machine& machine,
                 std::vector<Step>& steps) const override {
    if (machine.threads < 2) return;
    VisitLoops(program, Path(), [&](const Path& path, const Loop& loop) {
      if (loop.extent >= 2 && Check(program, path, loop).ok()) {
        steps.push_back({"parallelize", path, {}});
      }
    });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 0, "none"));
    HONE_ASSIGN_OR_RETURN(const Loop* loop, FindLoop(program, step));
    HONE_RETURN_IF_ERROR(Check(program, step.path, *loop));
    Loop parallel = *loop;
    parallel.mode = LoopMode::kParallel;
    parallel.prefetch = 0;
    Program result = program;
    result.ReplaceLoop(step.path, std::move(parallel));
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakeParallelize() {
  return std::make_unique<Parallelize>();
}

}  // namespace hone::loops
