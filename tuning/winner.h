#ifndef HONE_TUNING_WINNER_H_
#define HONE_TUNING_WINNER_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "hlo/module.h"
#include "space/problem.h"
#include "space/trial.h"
#include "storage/record.h"
#include "tuning/task.h"
#include "tuning/verify.h"

namespace hone::tuning {

// A decision that may be published.
struct Winner {
  double cost = 0;  // of the module that was verified
  AppliedDecision applied;
  storage::Verification verification;
};

// The first of `candidates` whose module is found equal to `module`. The
// verification names those that were refused before it, and why.
// Errors: the last candidate's, when none of them could be verified.
absl::StatusOr<Winner> FirstVerified(
    const Task& task, const TaskOptions& task_options,
    const hlo::Module& module, const space::Problem& problem,
    absl::Span<const space::Candidate> candidates,
    const VerifyOptions& options);

}  // namespace hone::tuning

#endif  // HONE_TUNING_WINNER_H_
