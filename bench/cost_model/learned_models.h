#ifndef HONE_BENCH_COST_MODEL_LEARNED_MODELS_H_
#define HONE_BENCH_COST_MODEL_LEARNED_MODELS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "learning/cost/cost_predictor.h"

namespace hone::bench {

// A learned cost model, with the file that it came from.
struct LearnedModel {
  std::string file;
  std::shared_ptr<const learning::CostPredictor> model;
};

// Reads files of weights, or without any takes models/SHIPPED.pt. Errors: those
// of tuning::ReadCostModel.
absl::StatusOr<std::vector<LearnedModel>> ReadLearnedModels(
    const std::vector<std::string>& files, const std::string& shipped,
    const learning::CostSpec& spec);

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_LEARNED_MODELS_H_
