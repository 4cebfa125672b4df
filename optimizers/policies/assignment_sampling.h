#ifndef HONE_OPTIMIZERS_POLICIES_ASSIGNMENT_SAMPLING_H_
#define HONE_OPTIMIZERS_POLICIES_ASSIGNMENT_SAMPLING_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "optimizers/optimizer.h"
#include "space/assignment_problem.h"

namespace hone::optimizers::policies {

// The uses that an optimizer of assignments makes of a policy.
struct AssignmentSampling {
  // Trains the policy on the samples (PPO); else it stays as it is.
  bool learn = false;
  // Improves each sample by the problem's own moves before it is proposed, if
  // the problem has any, and goes on from one of the best few.
  bool polish = false;
  // Uses the weights that come with Hone for the problem; else none but those
  // of options.weights.
  bool shipped = false;
  // Ends after what the policy proposes by itself: what it makes of the
  // default, or a few tries of its moves.
  bool zero_shot = false;
};

// Returns an optimizer that proposes samples of a policy, drawn after one of
// the best assignments known, of which each changes a few variables. With
// trained weights it first proposes what they make of the default.
// Errors: those of TrainedModel.
absl::StatusOr<std::unique_ptr<Optimizer>> MakeAssignmentSampling(
    absl::string_view name, const space::AssignmentProblem& problem,
    const AssignmentSampling& sampling, const OptimizerOptions& options);

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_ASSIGNMENT_SAMPLING_H_
