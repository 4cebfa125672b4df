// collapse PATH: joins a loop and its only child into one loop. (Halide and TVM
// call this fuse.)
//
//   for i 30                   for i 210
//   | for j 7             →    | y@[i] = negate(x@[i])
//   | | y[i,j] = negate(x[i,j])
//
// Legal if every index uses both variables as a multiple of the iteration
// number, which keeps indices affine; accesses of dense buffers become flat if
// necessary. Neither loop may have a bound, nor the outer loop locals. Pays off
// if the inner extent is not a good number of lanes, or the outer extent too
// small for threads.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

absl::Status CheckShape(const Loop& outer) {
  if (outer.body.size() != 1 || outer.body[0].loop() == nullptr) {
    return absl::InvalidArgumentError(
        "the loop has children other than a single loop");
  }
  const Loop& inner = *outer.body[0].loop();
  if (outer.mode != LoopMode::kSequential ||
      inner.mode != LoopMode::kSequential) {
    return absl::InvalidArgumentError(
        absl::StrCat("the loops are ", ModeName(outer.mode), " and ",
                     ModeName(inner.mode), ", expected sequential ones"));
  }
  if (outer.bound.has_value() || inner.bound.has_value()) {
    return absl::InvalidArgumentError("one of the loops has a bound");
  }
  if (!outer.locals.empty()) {
    return absl::InvalidArgumentError("the outer loop has locals");
  }
  return absl::OkStatus();
}

// Replaces both variables with the inner one, now that of the joined loop.
class Collapser {
 public:
  Collapser(const Program& program, const Loop& outer, const Loop& inner)
      : program_(program),
        outer_var_(outer.var),
        inner_var_(inner.var),
        inner_extent_(inner.extent) {}

  Node Collapse(const Node& node) {
    const Node flat = MapAccesses(
        node, [this](const Access& access) { return Flatten(access); });
    return MapAffines(flat, [this](const Affine& affine) {
      is_affine_ = is_affine_ && Collapses(affine);
      return affine.Substitute(outer_var_, 0);
    });
  }

  // Returns true if all indices stayed affine.
  bool is_affine() const { return is_affine_; }

 private:
  bool Collapses(const Affine& affine) const {
    return affine.coefficient(outer_var_) ==
           inner_extent_ * affine.coefficient(inner_var_);
  }

  // Indexes by the number of the element if the indices do not collapse.
  Access Flatten(const Access& access) const {
    const Buffer& buffer = program_.buffer(access.buffer);
    const bool collapses = std::all_of(
        access.indices.begin(), access.indices.end(),
        [this](const Index& index) { return Collapses(index.affine); });
    if (collapses || !buffer.IsDense() || access.indices.size() < 2 ||
        access.indices.size() != buffer.dimensions.size()) {
      return access;
    }
    Affine element;
    for (size_t i = 0; i < access.indices.size(); ++i) {
      if (access.indices[i].offset != nullptr) return access;
      element += access.indices[i].affine * buffer.strides[i];
    }
    Access flat;
    flat.buffer = access.buffer;
    flat.indices.emplace_back(std::move(element));
    return flat;
  }

  const Program& program_;
  const VarId outer_var_;
  const VarId inner_var_;
  const int64_t inner_extent_;
  bool is_affine_ = true;
};

absl::StatusOr<Loop> TryCollapse(const Program& program, const Loop& outer) {
  HONE_RETURN_IF_ERROR(CheckShape(outer));
  const Loop& inner = *outer.body[0].loop();
  Collapser collapser(program, outer, inner);
  Loop collapsed;
  collapsed.var = inner.var;
  collapsed.extent = outer.extent * inner.extent;
  collapsed.locals = inner.locals;
  for (const Node& node : inner.body) {
    collapsed.body.push_back(collapser.Collapse(node));
  }
  if (!collapser.is_affine()) {
    return absl::InvalidArgumentError(
        "not all indices, bounds and ranges would stay affine");
  }
  return collapsed;
}

class Collapse final : public Transform {
 public:
  absl::string_view name() const override { return "collapse"; }

  void Enumerate(const Program& program, const Machine&,
                 std::vector<Step>& steps) const override {
    VisitLoops(program, Path(), [&](const Path& path, const Loop& loop) {
      if (TryCollapse(program, loop).ok()) {
        steps.push_back({"collapse", path, {}});
      }
    });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 0, "none"));
    HONE_ASSIGN_OR_RETURN(const Loop* loop, FindLoop(program, step));
    HONE_ASSIGN_OR_RETURN(Loop collapsed, TryCollapse(program, *loop));
    Program result = program;
    result.ReplaceLoop(step.path, std::move(collapsed));
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakeCollapse() {
  return std::make_unique<Collapse>();
}

}  // namespace hone::loops
