#ifndef HONE_OPTIMIZERS_POLICIES_WEIGHTS_H_
#define HONE_OPTIMIZERS_POLICIES_WEIGHTS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

#include "learning/models/assignment_model.h"
#include "learning/models/model.h"
#include "optimizers/optimizer.h"
#include "space/assignment_problem.h"
#include "space/sequential_problem.h"

namespace hone::optimizers::policies {

// Returns an untrained model for `problem`, small enough to learn within one
// search.
std::unique_ptr<learning::Model> NewModel(
    const space::SequentialProblem& problem, const OptimizerOptions& options);
std::unique_ptr<learning::AssignmentModel> NewModel(
    const space::AssignmentProblem& problem, const OptimizerOptions& options);

// Returns true if there are trained weights for `problem`.
bool HasTrainedWeights(const space::Problem& problem,
                       const OptimizerOptions& options);

// Reads a file of weights.
// Errors: NotFound if it cannot be read; InvalidArgument for a folder.
absl::StatusOr<std::string> ReadWeights(const std::string& path);

// Reads the model of a file for `spec`.
// Errors: those of ReadWeights, and of Model::Parse, naming the file.
absl::StatusOr<std::unique_ptr<learning::Model>> ReadModel(
    const std::string& path, const learning::GameSpec& spec);

// Returns the model of options.weights, else the one that comes with Hone for
// this kind of problem, else an untrained one.
// Errors: those of ReadWeights, and of Model::Parse or AssignmentModel::Parse,
// naming the file.
absl::StatusOr<std::unique_ptr<learning::Model>> TrainedModel(
    const space::SequentialProblem& problem, const OptimizerOptions& options);
absl::StatusOr<std::unique_ptr<learning::AssignmentModel>> TrainedModel(
    const space::AssignmentProblem& problem, const OptimizerOptions& options);

// The same, or a UniformScorer for options.uniform_prior.
absl::StatusOr<std::unique_ptr<const learning::Scorer>> PriorOf(
    const space::SequentialProblem& problem, const OptimizerOptions& options);

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_WEIGHTS_H_
