#include "tuning/winner.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"

namespace hone::tuning {
namespace {

absl::StatusOr<Winner> Verified(const Task& task,
                                const TaskOptions& task_options,
                                const hlo::Module& module,
                                const space::Problem& problem,
                                const space::Candidate& candidate,
                                const VerifyOptions& options) {
  const space::Measurement measurement = problem.Measure(candidate);
  if (measurement.outcome != space::Outcome::kOk) {
    return absl::InternalError(
        absl::StrCat("candidate is ", space::OutcomeName(measurement.outcome),
                     ": ", measurement.message));
  }
  HONE_ASSIGN_OR_RETURN(AppliedDecision applied,
                        task.Apply(module, task_options, candidate));
  HONE_ASSIGN_OR_RETURN(storage::Verification verification,
                        VerifyRewrite(module, applied.module, options));
  return Winner{measurement.cost, std::move(applied), std::move(verification)};
}

}  // namespace

absl::StatusOr<Winner> FirstVerified(
    const Task& task, const TaskOptions& task_options,
    const hlo::Module& module, const space::Problem& problem,
    absl::Span<const space::Candidate> candidates,
    const VerifyOptions& options) {
  absl::Status last = absl::InvalidArgumentError("no candidates");
  std::string refused;
  for (const space::Candidate& candidate : candidates) {
    absl::StatusOr<Winner> winner =
        Verified(task, task_options, module, problem, candidate, options);
    if (winner.ok()) {
      absl::StrAppend(&winner->verification.method, refused);
      return winner;
    }
    last = winner.status();
    absl::StrAppend(&refused,
                    "; a better decision was refused: ", last.message());
  }
  return last;
}

}  // namespace hone::tuning
