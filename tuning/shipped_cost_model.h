#ifndef HONE_TUNING_SHIPPED_COST_MODEL_H_
#define HONE_TUNING_SHIPPED_COST_MODEL_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "learning/cost/cost_predictor.h"

namespace hone::tuning {

// Returns the cost model that comes with Hone as models/NAME.pt, for `spec`;
// null if there is none. It is read when it is first asked for, and stays.
// Errors: Internal if the library of learned models cannot be loaded; those of
// a model that does not match.
absl::StatusOr<const learning::CostPredictor*> ShippedCostModel(
    absl::string_view name, const learning::CostSpec& spec);

}  // namespace hone::tuning

#endif  // HONE_TUNING_SHIPPED_COST_MODEL_H_
