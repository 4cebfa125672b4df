// rfactor PATH BUFFER LEVELS: lets each iteration of the loop at PATH reduce to
// a partial result of its own; the partial results are combined at the end.
// They are initialized and combined LEVELS loops further out.
//
//   for k0 { for k1 { s += x[16*k0+k1] } }     (PATH k1, LEVELS 1)
//     →  for p 16 { t[p] = 0 }
//        for k0 { for k1 { t[k1] += x[16*k0+k1] } }
//        for p 16 { s += t[p] }
//
// The loop then carries no dependence: it can be vectorized, parallelized or
// reordered. Legal if all accesses of the buffer inside the region of the
// partial results are one reduction in the loop, whose target does not depend
// on the loop. Changes rounding.

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/analysis/footprint.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/locals.h"
#include "loops/transforms/reduction/partial_results.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

class Rfactor final : public Transform {
 public:
  absl::string_view name() const override { return "rfactor"; }
  bool changes_rounding() const override { return true; }
  int32_t buffer_parameters() const override { return 1; }

  // Lists steps as far out as the reduction goes, for partial results that fit
  // in the second cache.
  void Enumerate(const Program& program, const Machine& machine,
                 std::vector<Step>& steps) const override {
    VisitLoops(program, Path(), [&](const Path& path, const Loop& loop) {
      if (loop.extent < 2) return;
      for (BufferId buffer : BuffersIn(program, path)) {
        std::optional<Step> last;
        for (size_t levels = 0; levels < path.size(); ++levels) {
          const Step step = {
              "rfactor", path, {buffer, static_cast<int64_t>(levels)}};
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
        program.At(step.path).loop() == nullptr) {
      return absl::InvalidArgumentError("the path is not that of a loop");
    }
    HONE_ASSIGN_OR_RETURN(const BufferId buffer,
                          BufferParameter(program, step, 0));
    const int64_t levels = step.parameters[1];
    if (levels < 0 || levels >= static_cast<int64_t>(step.path.size())) {
      return absl::InvalidArgumentError("there are fewer loops above");
    }
    const Path region =
        Prefix(step.path, step.path.size() - static_cast<size_t>(levels));
    const Loop& loop = *program.At(step.path).loop();
    Program result = program;
    HONE_ASSIGN_OR_RETURN(
        const PartialResults partial,
        MakePartialResults(result, region, step.path, buffer, loop.extent));
    std::vector<Node> nodes;
    nodes.push_back(Initialize(result, partial));
    nodes.push_back(MapAccesses(program.At(region), [&](const Access& access) {
      return access.buffer == buffer
                 ? PartOf(program, partial, access, Affine::Var(loop.var))
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

std::unique_ptr<Transform> MakeRfactor() { return std::make_unique<Rfactor>(); }

}  // namespace hone::loops
