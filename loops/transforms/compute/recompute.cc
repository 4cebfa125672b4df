// recompute PATH BUFFER: lets the statement at PATH compute the values that it
// loads from a local itself. Other readers of the local stay; if there are
// none, the local is removed.
//
//   for i { t[i] = x[i] + 1 }; for i { y[i] = t[i] }; for i { z[i] = t[i] }
//     →  for i { t[i] = x[i] + 1 }; for i { y[i] = t[i] }
//        for i { z[i] = x[i] + 1 }
//
// Legal if a single statement writes the local, and its inputs are unchanged
// when the local is read.

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/analysis/footprint.h"
#include "loops/transforms/analysis/iteration_count.h"
#include "loops/transforms/analysis/producer.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/locals.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

constexpr double kMostRepetition = 4;

class Recompute final : public Transform {
 public:
  absl::string_view name() const override { return "recompute"; }
  int32_t buffer_parameters() const override { return 1; }

  // Lists buffers with more than one reader: inline is for the only one.
  void Enumerate(const Program& program, const Machine&,
                 std::vector<Step>& steps) const override {
    VisitStatements(
        program, Path(), [&](const Path& path, const Statement& statement) {
          std::set<BufferId> loaded;
          VisitAccesses(statement, [&](const Access& access, bool is_target) {
            if (!is_target) loaded.insert(access.buffer);
          });
          for (BufferId buffer : loaded) {
            const absl::StatusOr<Producer> producer =
                ProducerOf(program, buffer);
            if (!producer.ok() || !HasOtherReader(program, path, buffer) ||
                IterationCount(program, path) >
                    kMostRepetition * IterationCount(program, producer->path)) {
              continue;
            }
            const Step step = {"recompute", path, {buffer}};
            if (Apply(program, step).ok()) steps.push_back(step);
          }
        });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 1, "BUFFER"));
    HONE_ASSIGN_OR_RETURN(const BufferId buffer,
                          BufferParameter(program, step, 0));
    HONE_ASSIGN_OR_RETURN(const Producer producer, ProducerOf(program, buffer));
    HONE_ASSIGN_OR_RETURN(StatementPtr statement,
                          WithValueOf(program, producer, step.path));
    Program result = program;
    result.Replace(step.path, {Node(std::move(statement))});
    if (!HasOtherReader(program, step.path, buffer)) {
      RemoveDeclaration(result, buffer);
      RemoveNode(result, producer.path);
    }
    HONE_RETURN_IF_ERROR(CheckRegisters(result));
    return result;
  }

 private:
  static bool HasOtherReader(const Program& program, const Path& path,
                             BufferId buffer) {
    const std::vector<AccessSite> sites = SitesOf(program, Path(), buffer);
    return std::any_of(sites.begin(), sites.end(), [&](const AccessSite& site) {
      return !site.is_write && site.path != path;
    });
  }
};

}  // namespace

std::unique_ptr<Transform> MakeRecompute() {
  return std::make_unique<Recompute>();
}

}  // namespace hone::loops
