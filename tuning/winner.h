#ifndef HONE_TUNING_WINNER_H_
#define HONE_TUNING_WINNER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "space/problem.h"
#include "space/trial.h"
#include "storage/record.h"
#include "tuning/subject.h"
#include "tuning/task.h"
#include "tuning/verify.h"

namespace hone::tuning {

// Candidates that compete for publication.
using Finalists = std::vector<space::Candidate>;

// Returns the winner of the first group with a verified candidate: the cheapest
// as judged again. A refused sequence is repaired (repair.h) where that costs
// less than the default. The verification names the candidates refused before
// it, and why.
// Errors: the last candidate's if none could be verified; Unavailable and
// Cancelled at once.
absl::StatusOr<Winner> ChooseWinner(const Task& task, const Subject& subject,
                                    const space::Problem& problem,
                                    absl::Span<const Finalists> groups,
                                    const VerifyOptions& options);

}  // namespace hone::tuning

#endif  // HONE_TUNING_WINNER_H_
