#include "optimizers/policies/weights.h"

#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "learning/models/frozen_model.h"
#include "optimizers/policies/shipped_weights.h"

namespace hone::optimizers::policies {
namespace {

using learning::Game;
using learning::GameSpec;
using learning::Model;
using learning::Scorer;

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  if (!in) {
    return absl::NotFoundError(absl::StrCat(
        path, ": cannot be read, expected weights that hone train wrote"));
  }
  return std::move(bytes).str();
}

// The architecture of a network that learns within one search: from few turns,
// and in the time that the search has.
constexpr learning::EncoderOptions kSmall = {.width = 32, .layers = 2};

}  // namespace

std::unique_ptr<Model> NewModel(const space::SequentialProblem& problem,
                                const OptimizerOptions& options) {
  return std::make_unique<Model>(Game(problem).spec(), kSmall, options.seed);
}

bool HasTrainedWeights(const space::SequentialProblem& problem,
                       const OptimizerOptions& options) {
  return !options.weights.empty() ||
         !ShippedWeights(problem.policy_name()).empty();
}

absl::StatusOr<std::unique_ptr<Model>> ReadModel(const std::string& path,
                                                 const GameSpec& spec) {
  HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  absl::StatusOr<std::unique_ptr<Model>> model = Model::Parse(bytes, spec);
  if (!model.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", model.status().message()));
  }
  return model;
}

absl::StatusOr<std::unique_ptr<Model>> TrainedModel(
    const space::SequentialProblem& problem, const OptimizerOptions& options) {
  const GameSpec spec = Game(problem).spec();
  if (!options.weights.empty()) return ReadModel(options.weights, spec);
  const absl::string_view shipped = ShippedWeights(problem.policy_name());
  if (!shipped.empty()) return Model::Parse(shipped, spec);
  return NewModel(problem, options);
}

absl::StatusOr<std::unique_ptr<const Scorer>> PriorOf(
    const space::SequentialProblem& problem, const OptimizerOptions& options) {
  if (options.uniform_prior) {
    return std::make_unique<learning::UniformScorer>();
  }
  HONE_ASSIGN_OR_RETURN(auto model, TrainedModel(problem, options));
  return std::make_unique<learning::FrozenModel>(std::move(model));
}

}  // namespace hone::optimizers::policies
