#ifndef HONE_OPTIMIZERS_POLICIES_MOVE_SEARCH_H_
#define HONE_OPTIMIZERS_POLICIES_MOVE_SEARCH_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "optimizers/optimizer.h"
#include "optimizers/policies/assignment_sampling.h"
#include "space/assignment_problem.h"

namespace hone::optimizers::policies {

// Returns an optimizer for a problem that describes its moves: a local search
// from the best assignment known in which a policy chooses the moves
// (MoveWalk). A trial is the best assignment of many tries. `sampling.polish`
// does nothing. Errors: those of TrainedModel.
absl::StatusOr<std::unique_ptr<Optimizer>> MakeMoveSearch(
    absl::string_view name, const space::AssignmentProblem& problem,
    const AssignmentSampling& sampling, const OptimizerOptions& options);

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_MOVE_SEARCH_H_
