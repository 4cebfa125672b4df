#ifndef HONE_OPTIMIZERS_POLICIES_FACTORIES_H_
#define HONE_OPTIMIZERS_POLICIES_FACTORIES_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "learning/models/model.h"
#include "learning/ppo_learner.h"
#include "optimizers/optimizer.h"
#include "space/sequential_problem.h"

namespace hone::optimizers::policies {

// The learned optimizers of optimizers.def.
#define HONE_OPTIMIZER(id, factory, kinds)
#define HONE_LEARNED_OPTIMIZER(id, factory, kinds)    \
  absl::StatusOr<std::unique_ptr<Optimizer>> factory( \
      const space::Problem& problem, const OptimizerOptions& options);
#include "optimizers/optimizers.def"
#undef HONE_LEARNED_OPTIMIZER
#undef HONE_OPTIMIZER

// Returns PPO on one sequential problem, starting from the weights of `model`.
// With `is_trained` it first proposes what they say by themselves (FirstGame).
std::unique_ptr<Optimizer> PpoFrom(absl::string_view name,
                                   const space::SequentialProblem& problem,
                                   std::unique_ptr<learning::Model> model,
                                   const learning::PpoOptions& ppo,
                                   bool is_trained,
                                   const OptimizerOptions& options);

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_FACTORIES_H_
