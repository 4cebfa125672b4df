#ifndef HONE_TUNING_MINIMIZE_H_
#define HONE_TUNING_MINIMIZE_H_

#include "absl/status/statusor.h"

#include "space/problem.h"
#include "space/trial.h"

namespace hone::tuning {

// Returns `candidate`, which is valid, without the actions that its cost does
// not need, so that a published decision is short. The result costs no more.
// Errors: those of Problem::Measure.
absl::StatusOr<space::Candidate> Minimize(
    const space::SequentialProblem& problem, const space::Candidate& candidate);

}  // namespace hone::tuning

#endif  // HONE_TUNING_MINIMIZE_H_
