#ifndef HONE_TUNING_MINIMIZE_H_
#define HONE_TUNING_MINIMIZE_H_

#include "absl/status/statusor.h"

#include "space/problem.h"
#include "space/trial.h"

namespace hone::tuning {

// `candidate` without the actions that its cost does not need, so that what is
// published is short and each part of it matters. Costs no more than
// `candidate`, which is valid; depends on the arguments only.
// Errors: those of Problem::Measure.
absl::StatusOr<space::Candidate> Minimize(
    const space::SequentialProblem& problem, const space::Candidate& candidate);

}  // namespace hone::tuning

#endif  // HONE_TUNING_MINIMIZE_H_
