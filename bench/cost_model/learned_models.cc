#include "bench/cost_model/learned_models.h"

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "tuning/read_cost_model.h"

namespace hone::bench {

absl::StatusOr<std::vector<LearnedModel>> ReadLearnedModels(
    const std::vector<std::string>& files, const std::string& shipped,
    const learning::CostSpec& spec) {
  std::vector<LearnedModel> models;
  for (const std::string& file : files) {
    models.push_back({file, nullptr});
    HONE_ASSIGN_OR_RETURN(models.back().model,
                          tuning::ReadCostModel(file, shipped, spec));
  }
  if (files.empty()) {
    models.push_back({absl::StrCat(shipped, ".pt"), nullptr});
    HONE_ASSIGN_OR_RETURN(models.back().model,
                          tuning::ReadCostModel("", shipped, spec));
  }
  return models;
}

}  // namespace hone::bench
