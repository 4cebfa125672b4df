#include "bench/cost_model/learned_models.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "hlo/read_module.h"
#include "optimizers/policies/library.h"
#include "tuning/shipped_cost_model.h"

namespace hone::bench {

absl::StatusOr<std::vector<LearnedModel>> ReadLearnedModels(
    const std::vector<std::string>& files, const std::string& shipped,
    const learning::CostSpec& spec) {
  std::vector<LearnedModel> models;
  if (files.empty()) {
    HONE_ASSIGN_OR_RETURN(const learning::CostPredictor* const model,
                          tuning::ShippedCostModel(shipped, spec));
    if (model == nullptr) {
      return absl::NotFoundError(absl::StrCat(
          "Hone comes without a cost model ", shipped, ", expected weights"));
    }
    models.push_back({absl::StrCat(shipped, ".pt"), nullptr, model});
    return models;
  }
  HONE_ASSIGN_OR_RETURN(const auto* const library,
                        optimizers::policies::LoadLibrary());
  for (const std::string& file : files) {
    HONE_ASSIGN_OR_RETURN(const std::string bytes, hlo::ReadFileBytes(file));
    auto model = library->parse_cost_model(bytes, &spec);
    if (!model.ok()) {
      return absl::Status(model.status().code(),
                          absl::StrCat(file, ": ", model.status().message()));
    }
    models.push_back({file, *std::move(model), nullptr});
    models.back().model = models.back().owned.get();
  }
  return models;
}

}  // namespace hone::bench
