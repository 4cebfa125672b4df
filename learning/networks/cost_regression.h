#ifndef HONE_LEARNING_NETWORKS_COST_REGRESSION_H_
#define HONE_LEARNING_NETWORKS_COST_REGRESSION_H_

#include <cstdint>

#include "absl/types/span.h"

#include "learning/cost/cost_samples.h"
#include "learning/networks/cost_network.h"

// What is computed in closed form about the last layers of a cost model: the
// inputs of a head's last layer are the regressors. Groups must fit the spec.
namespace hone::learning {

// Adapts the last layer of each head that there are groups for, as
// CostPredictor::Refine says.
void RefineLastLayers(absl::Span<const CostGroup> groups, const CostSpec& spec,
                      CostNetworkImpl& network);

// Scales the scores of a head for an order so that their differences are, as
// nearly as can be, those of the logarithms of times within groups. The order
// stays.
void FitOrderScale(int32_t head, absl::Span<const CostGroup> groups,
                   const CostSpec& spec, CostNetworkImpl& network);

// Fits what predictions of a head deviate by: the variance is linear in the
// squared Mahalanobis distance of the regressors from those of `training`, with
// the coefficients that explain the squared errors on `held_out`, but at least
// half by the distance. Errors of heads for an order are those of differences
// from the mean of the group.
void FitDeviations(int32_t head, absl::Span<const CostGroup> training,
                   absl::Span<const CostGroup> held_out, const CostSpec& spec,
                   CostNetworkImpl& network);

}  // namespace hone::learning

#endif  // HONE_LEARNING_NETWORKS_COST_REGRESSION_H_
