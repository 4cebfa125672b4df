#include "tuning/tasks/kernel_cost_spec.h"

#include <string>

#include "costmodels/loop_features.h"

namespace hone::tuning {

const learning::CostSpec& KernelCostSpec() {
  static const auto* const spec = new learning::CostSpec{
      .graph = costmodels::LoopFeaturesSpec(),
      .config_names = costmodels::LoopFeatureNames(),
      .heads = {{"time", learning::CostTarget::kTime},
                {"schedule", learning::CostTarget::kOrder}},
      .features = std::string(costmodels::kLoopFeaturesVersion)};
  return *spec;
}

}  // namespace hone::tuning
