#ifndef HONE_TUNING_READ_COST_MODEL_H_
#define HONE_TUNING_READ_COST_MODEL_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

#include "learning/cost/cost_predictor.h"

namespace hone::tuning {

// The deviation of a time's logarithm from which a prediction is said to be
// unsure: one in three such times is off by more than a third.
inline constexpr double kUnsureDeviation = 0.3;

// Returns the cost model in the file at `weights` or, if that is empty, the one
// that comes with Hone as models/NAME.pt.
// Errors: those of reading and parsing the file, which name it, as for weights
// of another version of the features; NotFound if no such model comes with
// Hone.
absl::StatusOr<std::shared_ptr<const learning::CostPredictor>> ReadCostModel(
    const std::string& weights, const std::string& name,
    const learning::CostSpec& spec);

// Returns the bytes of a file of weights. Errors: NotFound and InvalidArgument,
// "FILE: …, expected weights that `hone train` wrote", for what is no regular
// file or larger than weights are.
absl::StatusOr<std::string> ReadWeights(const std::string& path);

}  // namespace hone::tuning

#endif  // HONE_TUNING_READ_COST_MODEL_H_
