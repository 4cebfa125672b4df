#ifndef HONE_OPTIMIZERS_POLICIES_WEIGHTS_H_
#define HONE_OPTIMIZERS_POLICIES_WEIGHTS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

#include "learning/models/model.h"
#include "optimizers/optimizer.h"
#include "space/sequential_problem.h"

namespace hone::optimizers::policies {

// Returns an untrained model for `problem`, small enough to learn within one
// search.
std::unique_ptr<learning::Model> NewModel(
    const space::SequentialProblem& problem, const OptimizerOptions& options);

// Returns true if there are trained weights for `problem`.
bool HasTrainedWeights(const space::SequentialProblem& problem,
                       const OptimizerOptions& options);

// Reads the model of a file for `spec`.
// Errors: NotFound if the file cannot be read; those of Model::Parse, naming
// the file.
absl::StatusOr<std::unique_ptr<learning::Model>> ReadModel(
    const std::string& path, const learning::GameSpec& spec);

// Returns the model of options.weights, else the one that comes with Hone for
// this kind of problem, else an untrained one.
// Errors: NotFound if the file cannot be read; InvalidArgument if its
// weights do not fit the problem.
absl::StatusOr<std::unique_ptr<learning::Model>> TrainedModel(
    const space::SequentialProblem& problem, const OptimizerOptions& options);

// The same, or a UniformScorer for options.uniform_prior.
absl::StatusOr<std::unique_ptr<const learning::Scorer>> PriorOf(
    const space::SequentialProblem& problem, const OptimizerOptions& options);

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_WEIGHTS_H_
