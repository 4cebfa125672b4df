#include "tuning/winner.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "space/measurement.h"
#include "tuning/repair.h"

namespace hone::tuning {

namespace {

// Judges a candidate; a sequence without noise that is refused is repaired.
absl::StatusOr<Winner> JudgeOrRepair(const Task& task, const Subject& subject,
                                     const space::Problem& problem,
                                     const space::Candidate& candidate,
                                     const VerifyOptions& options) {
  absl::StatusOr<Winner> winner =
      task.Judge(subject, problem, candidate, options);
  const space::SequentialProblem* const sequence = problem.sequential();
  if (!absl::IsFailedPrecondition(winner.status()) || sequence == nullptr ||
      problem.is_noisy()) {
    return winner;
  }
  const space::Candidate by_default = problem.DefaultCandidate();
  if (candidate == by_default) return winner;
  HONE_ASSIGN_OR_RETURN(const space::Measurement default_measurement,
                        problem.Measure(by_default));
  return Repair(task, subject, *sequence, candidate, winner.status(),
                space::EffectiveCost(default_measurement), options);
}

}  // namespace

absl::StatusOr<Winner> ChooseWinner(const Task& task, const Subject& subject,
                                    const space::Problem& problem,
                                    absl::Span<const Finalists> groups,
                                    const VerifyOptions& options) {
  absl::Status last = absl::InvalidArgumentError("no candidates");
  std::string refused;
  for (const Finalists& group : groups) {
    std::optional<Winner> best;
    for (const space::Candidate& candidate : group) {
      absl::StatusOr<Winner> winner =
          JudgeOrRepair(task, subject, problem, candidate, options);
      if (winner.ok()) {
        if (!best || winner->cost < best->cost) best = *std::move(winner);
        continue;
      }
      last = winner.status();
      if (absl::IsUnavailable(last) || absl::IsCancelled(last)) return last;
      absl::StrAppend(&refused,
                      "; a better decision was refused: ", last.message());
    }
    if (best) {
      absl::StrAppend(&best->verification.method, refused);
      return *std::move(best);
    }
  }
  return last;
}

}  // namespace hone::tuning
