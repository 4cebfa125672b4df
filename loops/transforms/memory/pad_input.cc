// pad_input PATH BUFFER: copies the part of a buffer that the loop at PATH (-
// for the whole program) reads to a local, with a margin that holds the value
// that reads give out of bounds, so that reads need no ranges.
//
//   y[i] = where(0 <= i-1 < 56, x[i-1], 0)
//     →  for j 58 { c[j] = where(0 <= j-1 < 56, x[j-1], 0) }; y[i] = c[i]
//
// The copy comes first in the loop; if the loop writes the buffer, in front of
// the first child that reads it. Legal if nothing writes the buffer after that,
// all reads in a `where` have the same constant out of bounds, and all copied
// elements are initialized before.

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/analysis/coverage.h"
#include "loops/transforms/analysis/footprint.h"
#include "loops/transforms/analysis/same_expression.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/locals.h"
#include "loops/transforms/memory/staged_copy.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

// Returns true if `e` is a load of `buffer` with exactly the buffer's bounds
// around it, or some of them, and a constant outside.
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

// The constant outside of all guarded loads in the loop; nullptr where there
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

// Returns which child of the loop at depth `depth` the copy comes before.
absl::StatusOr<int32_t> PlaceOfCopy(absl::Span<const AccessSite> sites,
                                    size_t depth) {
  const bool has_writes =
      std::any_of(sites.begin(), sites.end(),
                  [](const auto& site) { return site.is_write; });
  if (!has_writes) return 0;
  std::optional<int32_t> first;
  for (const AccessSite& site : sites) {
    const int32_t child = site.path[depth];
    if (!site.is_write) first = std::min(first.value_or(child), child);
  }
  for (const AccessSite& site : sites) {
    if (site.is_write && site.path[depth] >= first.value_or(0)) {
      return absl::InvalidArgumentError("the loop writes the buffer");
    }
  }
  return *first;
}

class PadInput final : public Transform {
 public:
  absl::string_view name() const override { return "pad_input"; }
  int32_t buffer_parameters() const override { return 1; }

  // At the root, and at loops whose part fits the second cache.
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
    VisitLoops(program, Path(),
               [&](const Path& path, const Loop&) { try_at(path); });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 1, "BUFFER"));
    HONE_RETURN_IF_ERROR(ExpectLoop(program, step.path));
    HONE_ASSIGN_OR_RETURN(const BufferId buffer,
                          BufferParameter(program, step, 0));
    std::vector<AccessSite> sites = SitesOf(program, step.path, buffer);
    HONE_ASSIGN_OR_RETURN(const int32_t place,
                          PlaceOfCopy(sites, step.path.size()));
    std::erase_if(sites, [](const AccessSite& site) { return site.is_write; });
    const std::optional<Path> declaration = FindDeclaration(program, buffer);
    if (declaration.has_value() && *declaration != step.path &&
        IsAtOrBelow(*declaration, step.path)) {
      return absl::InvalidArgumentError("the buffer is declared in the loop");
    }
    if (IndexFormOf(program, sites) == IndexForm::kFlat) {
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
    const BufferId local =
        AddCopy(result, Child(step.path, place), buffer, layout, fill);
    std::vector<Node> body = BodyAt(result, step.path);
    const std::vector<const Loop*> outer = LoopsAt(result, step.path);
    for (size_t i = static_cast<size_t>(place) + 1; i < body.size(); ++i) {
      const Node unguarded =
          MapExpressions(body[i], [&](const ExpressionPtr& e) {
            return IsGuardedLoad(result, *e, buffer) ? e->operands()[0] : e;
          });
      body[i] = UseCopy(
          result, unguarded,
          [&](const Access& access) { return access.buffer == buffer; }, local,
          layout, outer);
    }
    SetBody(result, step.path, std::move(body));
    HONE_RETURN_IF_ERROR(CheckRegisters(result));
    const Memory memory = program.buffer(buffer).memory;
    if (memory == Memory::kArgument || memory == Memory::kConstant) {
      return result;
    }
    for (const AccessSite& site : SitesOf(result, step.path, buffer)) {
      if (!site.is_write && !IsCovered(result, Path(), site)) {
        return absl::InvalidArgumentError(
            "a copied element may be uninitialized");
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
