#include "tuning/read_cost_model.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "hlo/read_module.h"
#include "optimizers/policies/library.h"
#include "tuning/shipped_cost_model.h"

namespace hone::tuning {

absl::StatusOr<std::shared_ptr<const learning::CostPredictor>> ReadCostModel(
    const std::string& weights, const std::string& name,
    const learning::CostSpec& spec) {
  if (weights.empty()) {
    HONE_ASSIGN_OR_RETURN(const learning::CostPredictor* const model,
                          ShippedCostModel(name, spec));
    if (model == nullptr) {
      return absl::NotFoundError(
          absl::StrCat("no model ", name,
                       ".pt comes with this version, expected --weights FILE"));
    }
    // It stays for as long as the process.
    return std::shared_ptr<const learning::CostPredictor>(
        std::shared_ptr<void>(), model);
  }
  HONE_ASSIGN_OR_RETURN(const std::string bytes, hlo::ReadFileBytes(weights));
  HONE_ASSIGN_OR_RETURN(const auto* const library,
                        optimizers::policies::LoadLibrary());
  auto parsed = library->parse_cost_model(bytes, &spec);
  if (!parsed.ok()) {
    return absl::Status(parsed.status().code(),
                        absl::StrCat(weights, ": ", parsed.status().message()));
  }
  return std::shared_ptr<const learning::CostPredictor>(*std::move(parsed));
}

}  // namespace hone::tuning
