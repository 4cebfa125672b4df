// recompute PATH BUFFER: the statement at PATH computes what it loads of a
// local itself; other readers of it stay as they are. Where it was the last,
// the local is gone.
//
//   for i { t[i] = x[i] + 1 }; for i { y[i] = t[i] }; for i { z[i] = t[i] }
//     →  for i { t[i] = x[i] + 1 }; for i { y[i] = t[i] }
//        for i { z[i] = x[i] + 1 }
//
// Legal where one statement alone writes the local and what that reads is
// unchanged when the local is read.

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "loops/rewrite.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/footprint.h"
#include "loops/transforms/iteration_count.h"
#include "loops/transforms/locals.h"
#include "loops/transforms/producer.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

constexpr double kMostRepetition = 4;

class Recompute final : public Transform {
 public:
  absl::string_view name() const override { return "recompute"; }

  // Where there is another reader: inline is for the only one.
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
