#ifndef HONE_OPTIMIZERS_POLICIES_MOVE_TRAINEE_H_
#define HONE_OPTIMIZERS_POLICIES_MOVE_TRAINEE_H_

#include <memory>

#include "absl/status/statusor.h"

#include "optimizers/policies/trainee.h"
#include "space/assignment_problem.h"

namespace hone::optimizers::policies {

// Trains policies for problems that describe their moves, in searches of its
// own (MoveWalk). A round of labels learns what moves gain that were tried, by
// the policy and at random; an update goes on by PPO. There is no teacher.
// `options` outlive it. Errors: those of InitialModel.
absl::StatusOr<std::unique_ptr<Trainee>> MakeMoveTrainee(
    const space::AssignmentProblem& problem, const TrainingOptions& options);

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_MOVE_TRAINEE_H_
