#ifndef HONE_TUNING_WINNER_H_
#define HONE_TUNING_WINNER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "hlo/ir/module.h"
#include "space/problem.h"
#include "space/trial.h"
#include "storage/record.h"
#include "tuning/task.h"
#include "tuning/verify.h"

namespace hone::tuning {

// Candidates, any of which may win.
using Finalists = std::vector<space::Candidate>;

// The cheapest candidate, as judged, of the first group that has one which is
// found equal to `module`. The verification names those that were refused
// before, and why.
// Errors: the last candidate's, when none of them could be verified; at once
// those that are not about a candidate (Unavailable, Cancelled).
absl::StatusOr<Winner> ChooseWinner(const Task& task, const hlo::Module& module,
                                    const space::Problem& problem,
                                    absl::Span<const Finalists> groups,
                                    const VerifyOptions& options);

}  // namespace hone::tuning

#endif  // HONE_TUNING_WINNER_H_
