#ifndef HONE_OPTIMIZERS_POLICIES_WEIGHTS_H_
#define HONE_OPTIMIZERS_POLICIES_WEIGHTS_H_

#include <memory>

#include "absl/status/statusor.h"

#include "optimizers/optimizer.h"
#include "optimizers/policies/model.h"
#include "space/problem.h"

namespace hone::optimizers::policies {

// A model for `problem` that knows nothing.
std::unique_ptr<Model> NewModel(const space::Problem& problem,
                                const OptimizerOptions& options);

// Whether there are weights for `problem` that were trained before.
bool HasTrainedWeights(const space::Problem& problem,
                       const OptimizerOptions& options);

// The model of options.weights, else the one that comes with Hone for this kind
// of problem, else one that knows nothing.
// Errors: NotFound when the file cannot be read; InvalidArgument when its
// weights do not fit the problem.
absl::StatusOr<std::unique_ptr<Model>> TrainedModel(
    const space::Problem& problem, const OptimizerOptions& options);

// The same, or no opinion at all for options.uniform_prior.
absl::StatusOr<std::unique_ptr<const Scorer>> PriorOf(
    const space::Problem& problem, const OptimizerOptions& options);

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_WEIGHTS_H_
