// vectorize PATH: turns the iterations of a loop into vector lanes.
//
//   for i 16         →    for i 16 vector
//
// For loops of 2 … 64 iterations with statements only: split first. Legal if no
// iteration depends on another one, except through a reduction, whose lanes are
// combined at the end. Pays off if the loop runs along contiguous elements.

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/analysis/dependences.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/locals.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

constexpr int64_t kMinLanes = 2;
constexpr int64_t kMaxLanes = 64;

absl::Status CheckShape(const Loop& loop) {
  if (loop.mode != LoopMode::kSequential) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the loop is ", ModeName(loop.mode), ", expected sequential"));
  }
  if (loop.extent < kMinLanes || loop.extent > kMaxLanes) {
    return absl::InvalidArgumentError(absl::StrCat("extent ", loop.extent,
                                                   ", expected ", kMinLanes,
                                                   " … ", kMaxLanes, " lanes"));
  }
  for (const Node& node : loop.body) {
    if (node.loop() != nullptr) {
      return absl::InvalidArgumentError("the loop has inner loops");
    }
  }
  return absl::OkStatus();
}

bool HasOffset(const Access& access) {
  return std::any_of(
      access.indices.begin(), access.indices.end(),
      [](const Index& index) { return index.offset != nullptr; });
}

bool SameAccess(const Access& a, const Access& b) {
  return std::equal(
      a.indices.begin(), a.indices.end(), b.indices.begin(), b.indices.end(),
      [](const Index& x, const Index& y) { return x.affine == y.affine; });
}

// Returns true if lanes can hold parts of the reductions of the loop: each
// combines into a place that is known before, and no two into the same elements
// by different indices.
bool CanReduceInLanes(const Loop& loop) {
  for (size_t i = 0; i < loop.body.size(); ++i) {
    const Statement& a = *loop.body[i].statement();
    if (!a.combine.has_value()) continue;
    if (HasOffset(a.target)) return false;
    for (size_t j = 0; j < i; ++j) {
      const Statement& b = *loop.body[j].statement();
      if (a.target.buffer == b.target.buffer &&
          !SameAccess(a.target, b.target)) {
        return false;
      }
    }
  }
  return true;
}

absl::Status Check(const Program& program, const Path& path, const Loop& loop) {
  HONE_RETURN_IF_ERROR(CheckShape(loop));
  HONE_RETURN_IF_ERROR(CheckLocalsExpand(program, loop));
  if (CarriesDependence(program, path,
                        {.reorder_reductions = CanReduceInLanes(loop)})) {
    return absl::InvalidArgumentError("iterations depend on each other");
  }
  return absl::OkStatus();
}

class Vectorize final : public Transform {
 public:
  absl::string_view name() const override { return "vectorize"; }
  bool changes_rounding() const override { return true; }

  void Enumerate(const Program& program, const Machine&,
                 std::vector<Step>& steps) const override {
    VisitLoops(program, Path(), [&](const Path& path, const Loop& loop) {
      if (Check(program, path, loop).ok()) {
        steps.push_back({"vectorize", path, {}});
      }
    });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 0, "none"));
    HONE_ASSIGN_OR_RETURN(const Loop* loop, FindLoop(program, step));
    HONE_RETURN_IF_ERROR(Check(program, step.path, *loop));
    Loop vector = *loop;
    vector.mode = LoopMode::kVector;
    vector.prefetch = 0;
    Program result = program;
    result.ReplaceLoop(step.path, std::move(vector));
    // A vector has no iterations for locals to begin anew in.
    ExpandLocals(result, step.path);
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakeVectorize() {
  return std::make_unique<Vectorize>();
}

}  // namespace hone::loops
