// privatise_reduction PATH BUFFER LEVELS: each iteration of the scope at PATH
// reduces to a partial result of its own; they are combined at the end. Partial
// results begin and end LEVELS scopes further out.
//
//   for k0 { for k1 { s += x[16*k0+k1] } }     (PATH k1, LEVELS 1)
//     →  for p 16 { t[p] = 0 }
//        for k0 { for k1 { t[k1] += x[16*k0+k1] } }
//        for p 16 { s += t[p] }
//
// The scope carries no dependence then: it can be a vector, or parallel, or be
// interchanged. Legal where all accesses of the buffer in what the partial
// results are for are one reduction in the scope, which does not move its
// target. Changes rounding.

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "loops/rewrite.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/footprint.h"
#include "loops/transforms/locals.h"
#include "loops/transforms/partial_results.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

class PrivatiseReduction final : public Transform {
 public:
  absl::string_view name() const override { return "privatise_reduction"; }
  bool changes_rounding() const override { return true; }

  // As far out as the reduction goes, for what the second cache holds.
  void Enumerate(const Program& program, const Machine& machine,
                 std::vector<Step>& steps) const override {
    VisitScopes(program, Path(), [&](const Path& path, const Scope& scope) {
      if (scope.extent < 2) return;
      for (BufferId buffer : BuffersIn(program, path)) {
        std::optional<Step> last;
        for (size_t levels = 0; levels < path.size(); ++levels) {
          const Step step = {"privatise_reduction",
                             path,
                             {buffer, static_cast<int64_t>(levels)}};
          const absl::StatusOr<Program> result = Apply(program, step);
          if (!result.ok() ||
              result->buffers().back()->allocated_bytes() > machine.l2_bytes) {
            break;
          }
          last = step;
        }
        if (last.has_value()) steps.push_back(*std::move(last));
      }
    });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 2, "BUFFER LEVELS"));
    if (step.path.empty() || !program.Has(step.path) ||
        program.At(step.path).scope() == nullptr) {
      return absl::InvalidArgumentError("the path is not that of a scope");
    }
    HONE_ASSIGN_OR_RETURN(const BufferId buffer,
                          BufferParameter(program, step, 0));
    const int64_t levels = step.parameters[1];
    if (levels < 0 || levels >= static_cast<int64_t>(step.path.size())) {
      return absl::InvalidArgumentError("there are not as many scopes above");
    }
    const Path region =
        Prefix(step.path, step.path.size() - static_cast<size_t>(levels));
    const Scope& scope = *program.At(step.path).scope();
    Program result = program;
    HONE_ASSIGN_OR_RETURN(
        const PartialResults partial,
        MakePartialResults(result, region, step.path, buffer, scope.extent));
    std::vector<Node> nodes;
    nodes.push_back(Initialise(result, partial));
    nodes.push_back(MapAccesses(program.At(region), [&](const Access& access) {
      return access.buffer == buffer
                 ? PartOf(program, partial, access, Affine::Var(scope.var))
                 : access;
    }));
    HONE_ASSIGN_OR_RETURN(Node combined,
                          CombineInto(result, region, partial, partial.parts));
    nodes.push_back(std::move(combined));
    result.Replace(region, std::move(nodes));
    HONE_RETURN_IF_ERROR(CheckRegisters(result));
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakePrivatiseReduction() {
  return std::make_unique<PrivatiseReduction>();
}

}  // namespace hone::loops
