// non_temporal PATH: lets the stores of the statement at PATH bypass the
// caches.
//
// Legal if the target is a result that the kernel never reads. Not offered for
// results that fit in a cache, where a later kernel would find them.

#include <memory>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/analysis/footprint.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/locals.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

class NonTemporal final : public Transform {
 public:
  absl::string_view name() const override { return "non_temporal"; }

  // Results that do not fit in the second cache.
  void Enumerate(const Program& program, const Machine& machine,
                 std::vector<Step>& steps) const override {
    VisitStatements(
        program, Path(), [&](const Path& path, const Statement& statement) {
          const Step step = {"non_temporal", path, {}};
          const Buffer& target = program.buffer(statement.target.buffer);
          if (target.allocated_bytes() > machine.l2_bytes &&
              Apply(program, step).ok()) {
            steps.push_back(step);
          }
        });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 0, "none"));
    if (step.path.empty() || !program.Has(step.path) ||
        program.At(step.path).statement() == nullptr) {
      return absl::InvalidArgumentError("the path is not that of a statement");
    }
    Statement statement = *program.At(step.path).statement();
    if (statement.non_temporal) {
      return absl::InvalidArgumentError("the stores are non-temporal already");
    }
    const BufferId target = statement.target.buffer;
    if (program.buffer(target).memory != Memory::kResult) {
      return absl::InvalidArgumentError("the target is not a result");
    }
    for (const AccessSite& site : SitesOf(program, Path(), target)) {
      if (!site.is_write || site.combine.has_value()) {
        return absl::InvalidArgumentError("the result is read back");
      }
    }
    statement.non_temporal = true;
    Program result = program;
    result.Replace(step.path, {MakeNode(std::move(statement))});
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakeNonTemporal() {
  return std::make_unique<NonTemporal>();
}

}  // namespace hone::loops
