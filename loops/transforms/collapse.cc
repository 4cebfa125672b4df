// collapse PATH: a scope and its only child become one.
//
//   for i 30                   for i 210
//   | for j 7             →    | y@[i] = negate(x@[i])
//   | | y[i,j] = negate(x[i,j])
//
// Legal where everything in them goes through a multiple of the iteration's
// number, which keeps indices affine; accesses of dense buffers by the number
// of the element where they must. Neither scope may have a bound, nor the outer
// one locals. Pays where the inner extent is no good number of lanes, or the
// outer too small a number of iterations for threads.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/rewrite.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

absl::Status CheckShape(const Scope& outer) {
  if (outer.body.size() != 1 || outer.body[0].scope() == nullptr) {
    return absl::InvalidArgumentError(
        "the scope has other children than a single scope");
  }
  const Scope& inner = *outer.body[0].scope();
  if (outer.mode != ScopeMode::kSequential ||
      inner.mode != ScopeMode::kSequential) {
    return absl::InvalidArgumentError(
        absl::StrCat("the scopes are ", ModeName(outer.mode), " and ",
                     ModeName(inner.mode), ", expected sequential ones"));
  }
  if (outer.bound.has_value() || inner.bound.has_value()) {
    return absl::InvalidArgumentError("one of the scopes has a bound");
  }
  if (!outer.locals.empty()) {
    return absl::InvalidArgumentError("the outer scope has locals");
  }
  return absl::OkStatus();
}

// Puts the inner scope's variable, now of the one scope, in place of both.
class Collapser {
 public:
  Collapser(const Program& program, const Scope& outer, const Scope& inner)
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

  // Whether all that was collapsed stayed affine.
  bool is_affine() const { return is_affine_; }

 private:
  bool Collapses(const Affine& affine) const {
    return affine.coefficient(outer_var_) ==
           inner_extent_ * affine.coefficient(inner_var_);
  }

  // By the number of the element, where the indices do not collapse.
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

absl::StatusOr<Scope> TryCollapse(const Program& program, const Scope& outer) {
  HONE_RETURN_IF_ERROR(CheckShape(outer));
  const Scope& inner = *outer.body[0].scope();
  Collapser collapser(program, outer, inner);
  Scope collapsed;
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
    VisitScopes(program, Path(), [&](const Path& path, const Scope& scope) {
      if (TryCollapse(program, scope).ok()) {
        steps.push_back({"collapse", path, {}});
      }
    });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 0, "none"));
    HONE_ASSIGN_OR_RETURN(const Scope* scope, FindScope(program, step));
    HONE_ASSIGN_OR_RETURN(Scope collapsed, TryCollapse(program, *scope));
    Program result = program;
    result.ReplaceScope(step.path, std::move(collapsed));
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakeCollapse() {
  return std::make_unique<Collapse>();
}

}  // namespace hone::loops
