// pad_input PATH BUFFER: copies the part of a buffer that the scope at PATH (-
// for the whole program) reads to a local one there, with a margin that has the
// value that reads give out of bounds, so that these need no ranges any more.
//
//   y[i] = where(0 <= i-1 < 56, x[i-1], 0)
//     →  for j 58 { c[j] = where(0 <= j-1 < 56, x[j-1], 0) }; y[i] = c[i]
//
// Legal where nothing in the scope writes the buffer, where every read of it in
// a where has one constant outside, and where all of the buffer's elements that
// are copied have a value before.

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "loops/rewrite.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/coverage.h"
#include "loops/transforms/footprint.h"
#include "loops/transforms/locals.h"
#include "loops/transforms/registry.h"
#include "loops/transforms/same_expression.h"
#include "loops/transforms/staged_copy.h"

namespace hone::loops {
namespace {

// Whether `e` is a load of `buffer` with exactly the buffer's bounds around it,
// or some of them, and a constant outside.
bool IsGuardedLoad(const Program& program, const Expression& e,
                   BufferId buffer) {
  if (e.kind() != Expression::Kind::kWhere ||
      e.operands()[0]->kind() != Expression::Kind::kLoad ||
      e.operands()[1]->kind() != Expression::Kind::kConstant) {
    return false;
  }
  const Access& access = e.operands()[0]->access();
  if (access.buffer != buffer) return false;
  const hlo::DimensionVector& dimensions = program.buffer(buffer).dimensions;
  if (access.indices.size() != dimensions.size()) return false;
  return std::all_of(e.ranges().begin(), e.ranges().end(),
                     [&](const Range& range) {
                       for (size_t d = 0; d < dimensions.size(); ++d) {
                         if (range.value == access.indices[d].affine &&
                             range.lo == 0 && range.hi == dimensions[d]) {
                           return true;
                         }
                       }
                       return false;
                     });
}

// The constant outside of all guarded loads in the scope; nullptr where there
// are none or several.
ExpressionPtr FillOf(const Program& program, const Path& path,
                     BufferId buffer) {
  ExpressionPtr fill;
  bool is_unique = true;
  VisitStatements(program, path, [&](const Path&, const Statement& statement) {
    MapExpressions(statement.value, [&](const ExpressionPtr& e) {
      if (IsGuardedLoad(program, *e, buffer)) {
        const ExpressionPtr& outside = e->operands()[1];
        is_unique &= fill == nullptr || SameExpression(*fill, *outside);
        fill = outside;
      }
      return e;
    });
  });
  return is_unique ? fill : nullptr;
}

class PadInput final : public Transform {
 public:
  absl::string_view name() const override { return "pad_input"; }

  // At the root, and at scopes whose part fits the second cache.
  void Enumerate(const Program& program, const Machine& machine,
                 std::vector<Step>& steps) const override {
    const auto try_at = [&](const Path& path) {
      for (BufferId buffer : BuffersIn(program, path)) {
        if (FillOf(program, path, buffer) == nullptr) continue;
        const Step step = {"pad_input", path, {buffer}};
        const absl::StatusOr<Program> result = Apply(program, step);
        if (!result.ok()) continue;
        const int64_t bytes = result->buffers().back()->allocated_bytes();
        if (path.empty() || bytes <= machine.l2_bytes) steps.push_back(step);
      }
    };
    try_at(Path());
    VisitScopes(program, Path(),
                [&](const Path& path, const Scope&) { try_at(path); });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 1, "BUFFER"));
    HONE_RETURN_IF_ERROR(ExpectScope(program, step.path));
    HONE_ASSIGN_OR_RETURN(const BufferId buffer,
                          BufferParameter(program, step, 0));
    const std::vector<AccessSite> sites = SitesOf(program, step.path, buffer);
    for (const AccessSite& site : sites) {
      if (site.is_write) {
        return absl::InvalidArgumentError("the scope writes the buffer");
      }
    }
    const std::optional<Path> declaration = FindDeclaration(program, buffer);
    if (declaration.has_value() && IsAtOrBelow(*declaration, step.path)) {
      return absl::InvalidArgumentError("the buffer is declared in the scope");
    }
    if (FormOf(program, sites) == IndexForm::kFlat) {
      return absl::InvalidArgumentError("the buffer is accessed as flat");
    }
    const ExpressionPtr fill = FillOf(program, step.path, buffer);
    if (fill == nullptr) {
      return absl::InvalidArgumentError(
          "no reads of the buffer have one constant for what is out of its "
          "bounds");
    }
    HONE_ASSIGN_OR_RETURN(
        const CopyLayout layout,
        LayoutByDimension(program, step.path, sites, /*clip=*/false));
    Program result = program;
    const BufferId local = AddCopy(result, step.path, buffer, layout, fill);
    std::vector<Node> body = BodyAt(result, step.path);
    const std::vector<const Scope*> outer = ScopesAt(result, step.path);
    for (size_t i = 1; i < body.size(); ++i) {
      const Node unguarded =
          MapExpressions(body[i], [&](const ExpressionPtr& e) {
            return IsGuardedLoad(result, *e, buffer) ? e->operands()[0] : e;
          });
      body[i] = UseCopy(result, unguarded, buffer, local, layout, outer);
    }
    SetBody(result, step.path, std::move(body));
    HONE_RETURN_IF_ERROR(CheckRegisters(result));
    const Memory memory = program.buffer(buffer).memory;
    if (memory == Memory::kArgument || memory == Memory::kConstant) {
      return result;
    }
    for (const AccessSite& site : SitesOf(result, step.path, buffer)) {
      if (!IsCovered(result, Path(), site)) {
        return absl::InvalidArgumentError(
            "some of what would be copied may have no value yet");
      }
    }
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakePadInput() {
  return std::make_unique<PadInput>();
}

}  // namespace hone::loops
