#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "optimizers/policies/factories.h"
#include "optimizers/policies/model/weights.h"

namespace hone::optimizers::policies {

// PPO that starts from what was learned on other problems.
absl::StatusOr<std::unique_ptr<Optimizer>> CreateFinetune(
    const space::Problem& problem, const OptimizerOptions& options) {
  HONE_ASSIGN_OR_RETURN(auto model, TrainedModel(problem, options));
  PpoOptions ppo;
  if (HasTrainedWeights(problem, options)) {
    // Keeps the policy from forgetting its training at once.
    ppo.learning_rate = 3e-4F;
  }
  return PpoFrom("finetune", problem, std::move(model), ppo, options);
}

}  // namespace hone::optimizers::policies
