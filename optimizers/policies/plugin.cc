// The entry of the shared object with everything of Torch.

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "learning/models/cost_ensemble.h"
#include "optimizers/policies/factories.h"
#include "optimizers/policies/library.h"
#include "optimizers/policies/shipped_weights.h"

namespace hone::optimizers::policies {
namespace {

absl::StatusOr<std::unique_ptr<Optimizer>> Create(
    absl::string_view name, const space::Problem& problem,
    const OptimizerOptions& options) {
#define HONE_OPTIMIZER(id, factory, kinds)
#define HONE_LEARNED_OPTIMIZER(id, factory, kinds) \
  if (name == id) return factory(problem, options);
#include "optimizers/optimizers.def"
#undef HONE_LEARNED_OPTIMIZER
#undef HONE_OPTIMIZER
  return absl::NotFoundError(absl::StrCat("unknown optimizer '", name, "'"));
}

std::unique_ptr<learning::CostPredictor> JoinCostModels(
    std::vector<std::unique_ptr<learning::CostPredictor>> members) {
  return std::make_unique<learning::CostEnsemble>(std::move(members));
}

constexpr Library kLibrary = {.create = Create,
                              .train = Train,
                              .parse_cost_model = learning::ParseCostPredictor,
                              .join_cost_models = JoinCostModels,
                              .shipped_weights = ShippedWeights,
                              .train_cost_model = learning::TrainCostModel};

}  // namespace
}  // namespace hone::optimizers::policies

extern "C" const hone::optimizers::policies::Library* HonePolicyLibrary() {
  return &hone::optimizers::policies::kLibrary;
}
