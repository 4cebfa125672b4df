#include "optimizers/policies/weights.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "learning/models/frozen_model.h"
#include "optimizers/policies/shipped_weights.h"

namespace hone::optimizers::policies {
namespace {

using learning::AssignmentModel;
using learning::AssignmentSpec;
using learning::Game;
using learning::GameSpec;
using learning::Model;
using learning::Scorer;

GameSpec SpecFor(const space::SequentialProblem& problem) {
  return Game(problem).spec();
}
AssignmentSpec SpecFor(const space::AssignmentProblem& problem) {
  return learning::SpecOf(problem);
}

template <typename M, typename Spec>
absl::StatusOr<std::unique_ptr<M>> Read(const std::string& path,
                                        const Spec& spec) {
  HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadWeights(path));
  absl::StatusOr<std::unique_ptr<M>> model = M::Parse(bytes, spec);
  if (!model.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", model.status().message()));
  }
  return model;
}

template <typename M, typename Problem>
absl::StatusOr<std::unique_ptr<M>> Trained(const Problem& problem,
                                           const OptimizerOptions& options) {
  if (!options.weights.empty()) {
    return Read<M>(options.weights, SpecFor(problem));
  }
  const absl::string_view shipped = ShippedWeights(problem.policy_name());
  if (!shipped.empty()) return M::Parse(shipped, SpecFor(problem));
  return NewModel(problem, options);
}

// The architecture of a network that learns within one search: from few turns,
// and in the time that the search has.
constexpr learning::EncoderOptions kSmall = {.width = 32, .layers = 2};

}  // namespace

std::unique_ptr<Model> NewModel(const space::SequentialProblem& problem,
                                const OptimizerOptions& options) {
  return std::make_unique<Model>(SpecFor(problem), kSmall, options.seed);
}

std::unique_ptr<AssignmentModel> NewModel(
    const space::AssignmentProblem& problem, const OptimizerOptions& options) {
  return std::make_unique<AssignmentModel>(
      SpecFor(problem), learning::EncoderOptions{}, options.seed);
}

bool HasTrainedWeights(const space::Problem& problem,
                       const OptimizerOptions& options) {
  return !options.weights.empty() ||
         !ShippedWeights(problem.policy_name()).empty();
}

absl::StatusOr<std::string> ReadWeights(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": a folder, expected a file of weights that hone train wrote"));
  }
  if (std::filesystem::exists(path, ignored) &&
      !std::filesystem::is_regular_file(path, ignored)) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": a device or pipe, expected a file of weights that hone train "
        "wrote"));
  }
  std::ifstream in(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  if (!in) {
    return absl::NotFoundError(absl::StrCat(
        path, ": cannot be read, expected weights that hone train wrote"));
  }
  return std::move(bytes).str();
}

absl::StatusOr<std::unique_ptr<Model>> ReadModel(const std::string& path,
                                                 const GameSpec& spec) {
  return Read<Model>(path, spec);
}

absl::StatusOr<std::unique_ptr<Model>> TrainedModel(
    const space::SequentialProblem& problem, const OptimizerOptions& options) {
  return Trained<Model>(problem, options);
}

absl::StatusOr<std::unique_ptr<AssignmentModel>> TrainedModel(
    const space::AssignmentProblem& problem, const OptimizerOptions& options) {
  return Trained<AssignmentModel>(problem, options);
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
