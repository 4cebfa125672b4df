#ifndef HONE_OPTIMIZERS_POLICIES_ASSIGNMENT_TRAINEE_H_
#define HONE_OPTIMIZERS_POLICIES_ASSIGNMENT_TRAINEE_H_

#include <memory>

#include "absl/status/statusor.h"

#include "optimizers/policies/trainee.h"
#include "space/assignment_problem.h"

namespace hone::optimizers::policies {

// Returns a policy for problems like `problem`, with the weights that `options`
// name. `options` outlive it, `problem` need not.
// Errors: InvalidArgument for an architecture that is none, or initial weights
// that do not match; NotFound if they cannot be read.
absl::StatusOr<std::unique_ptr<Trainee>> MakeAssignmentTrainee(
    const space::AssignmentProblem& problem, const TrainingOptions& options);

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_ASSIGNMENT_TRAINEE_H_
