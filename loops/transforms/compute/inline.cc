// inline PATH: replaces all loads of the target of the statement at PATH, a
// local, by its value, and removes the local.
//
//   for i { t[i] = exp(x[i]) }; for i { y[i] = t[i] + 1 }
//     →  for i { y[i] = exp(x[i]) + 1 }
//
// Legal if no other statement writes the local, and its inputs are unchanged
// when the local is read. Not offered if an expensive value is read many times.

#include <memory>
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

// The largest recomputation factor of steps that Enumerate offers.
constexpr double kMostRepetition = 4;

class Inline final : public Transform {
 public:
  absl::string_view name() const override { return "inline"; }

  void Enumerate(const Program& program, const Machine&,
                 std::vector<Step>& steps) const override {
    VisitStatements(
        program, Path(), [&](const Path& path, const Statement& statement) {
          if (!program.buffer(statement.target.buffer).IsLocal()) return;
          const bool moves_only =
              statement.value->kind() != Expression::Kind::kApply &&
              statement.value->kind() != Expression::Kind::kWhere;
          double reads = 0;
          for (const AccessSite& site :
               SitesOf(program, Path(), statement.target.buffer)) {
            if (!site.is_write) reads += IterationCount(program, site.path);
          }
          const Step step = {"inline", path, {}};
          if ((moves_only ||
               reads <= kMostRepetition * IterationCount(program, path)) &&
              Apply(program, step).ok()) {
            steps.push_back(step);
          }
        });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 0, "none"));
    HONE_ASSIGN_OR_RETURN(const Producer producer,
                          ProducerAt(program, step.path));
    Program result = program;
    Path last;
    for (const AccessSite& site : SitesOf(program, Path(), producer.buffer)) {
      if (site.is_write || site.path == last) continue;
      last = site.path;
      HONE_ASSIGN_OR_RETURN(StatementPtr statement,
                            WithValueOf(program, producer, site.path));
      result.Replace(site.path, {Node(std::move(statement))});
    }
    RemoveDeclaration(result, producer.buffer);
    RemoveNode(result, producer.path);
    HONE_RETURN_IF_ERROR(CheckRegisters(result));
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakeInline() { return std::make_unique<Inline>(); }

}  // namespace hone::loops
