#ifndef HONE_OPTIMIZERS_POLICIES_LIBRARY_H_
#define HONE_OPTIMIZERS_POLICIES_LIBRARY_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "learning/cost/cost_predictor.h"
#include "learning/cost_training.h"
#include "optimizers/optimizer.h"
#include "optimizers/policies/training.h"
#include "space/problem.h"

namespace hone::optimizers::policies {

// The interface of the shared object that contains all uses of Torch. It is
// loaded with the first learned optimizer, because loading Torch takes most of
// a second, which other programs should not pay.
struct Library {
  // Returns the learned optimizer of that id.
  absl::StatusOr<std::unique_ptr<Optimizer>> (*create)(
      absl::string_view id, const space::Problem& problem,
      const OptimizerOptions& options);
  absl::StatusOr<TrainingResult> (*train)(const TrainingSet& set,
                                          const TrainingOptions& options);
  // Returns the cost model of a file that `train_cost_model` wrote, or the
  // ensemble of some, for `spec`, matched by names, or for the spec that it was
  // trained for if that is null.
  // Errors: InvalidArgument if `bytes` are no cost model or do not match.
  absl::StatusOr<std::unique_ptr<learning::CostPredictor>> (*parse_cost_model)(
      absl::string_view bytes, const learning::CostSpec* spec);
  // Returns a learning::CostEnsemble of models of one spec.
  std::unique_ptr<learning::CostPredictor> (*join_cost_models)(
      std::vector<std::unique_ptr<learning::CostPredictor>> members);
  // Returns the built-in bytes of models/NAME.pt; empty if there are none.
  absl::string_view (*shipped_weights)(absl::string_view name);
  // learning::TrainCostModel.
  absl::StatusOr<learning::CostTrainingResult> (*train_cost_model)(
      const learning::CostTrainingSet& set,
      const learning::CostTraining& training);
};

// Returns the library, which stays loaded. Searches ../lib, relative to the
// running program. Errors: Internal with the reason if it cannot be
// loaded.
absl::StatusOr<const Library*> LoadLibrary();

// Returns the library's optimizer of that id.
// Errors: also those of LoadLibrary.
absl::StatusOr<std::unique_ptr<Optimizer>> CreateLearned(
    absl::string_view id, const space::Problem& problem,
    const OptimizerOptions& options);

}  // namespace hone::optimizers::policies

// The symbol that LoadLibrary looks up in the shared object.
extern "C" const hone::optimizers::policies::Library* HonePolicyLibrary();

#endif  // HONE_OPTIMIZERS_POLICIES_LIBRARY_H_
