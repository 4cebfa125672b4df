#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "optimizers/policies/assignment_sampling.h"
#include "optimizers/policies/factories.h"
#include "optimizers/policies/weights.h"

namespace hone::optimizers::policies {

// PPO that starts from what was learned on other problems.
absl::StatusOr<std::unique_ptr<Optimizer>> CreateFinetune(
    const space::Problem& problem, const OptimizerOptions& options) {
  if (problem.assignment() != nullptr) {
    return MakeAssignmentSampling("finetune", *problem.assignment(),
                                  {.learn = true, .shipped = true}, options);
  }
  const space::SequentialProblem& sequence = *problem.sequential();
  HONE_ASSIGN_OR_RETURN(auto model, TrainedModel(sequence, options));
  learning::PpoOptions ppo;
  const bool is_trained = HasTrainedWeights(sequence, options);
  if (is_trained) {
    // Keeps the policy from forgetting its training at once.
    ppo.learning_rate = 3e-4F;
    ppo.max_divergence = 0.02F;
  }
  return PpoFrom("finetune", sequence, std::move(model), ppo, is_trained,
                 options);
}

}  // namespace hone::optimizers::policies
