#include "tuning/shipped_cost_model.h"

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

#include "base/status_macros.h"
#include "optimizers/policies/library.h"

namespace hone::tuning {
namespace {

// The models that were read, by name.
struct Models {
  absl::Mutex mu;
  std::map<std::string, std::unique_ptr<const learning::CostPredictor>> by_name
      ABSL_GUARDED_BY(mu);
};

}  // namespace

absl::StatusOr<const learning::CostPredictor*> ShippedCostModel(
    absl::string_view name, const learning::CostSpec& spec) {
  static auto* const models = new Models;
  absl::MutexLock lock(&models->mu);
  const auto known = models->by_name.find(std::string(name));
  if (known != models->by_name.end()) return known->second.get();
  HONE_ASSIGN_OR_RETURN(const auto* const library,
                        optimizers::policies::LoadLibrary());
  std::unique_ptr<const learning::CostPredictor> model;
  const absl::string_view weights = library->shipped_weights(name);
  if (!weights.empty()) {
    HONE_ASSIGN_OR_RETURN(model, library->parse_cost_model(weights, &spec));
  }
  return models->by_name.emplace(std::string(name), std::move(model))
      .first->second.get();
}

}  // namespace hone::tuning
