#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "base/status_macros.h"
#include "optimizers/policies/assignment_sampling.h"
#include "optimizers/policies/episode_optimizer.h"
#include "optimizers/policies/factories.h"
#include "optimizers/policies/first_game.h"
#include "optimizers/policies/weights.h"

namespace hone::optimizers::policies {
namespace {

using learning::Scorer;
using learning::Trajectory;

constexpr int32_t kSamples = 8;

// Plays as the policy says without learning: first the best move each time,
// then samples.
class Policy final : public EpisodeOptimizer {
 public:
  Policy(const space::SequentialProblem& problem,
         std::unique_ptr<const Scorer> scorer, const OptimizerOptions& options)
      : EpisodeOptimizer(problem, options),
        scorer_(std::move(scorer)),
        first_game_(game(), *scorer_) {}

  absl::string_view name() const override { return "policy"; }

 private:
  std::vector<Trajectory> Play() override {
    if (std::optional<Trajectory> part = first_game_.NextPart()) {
      return {*std::move(part)};
    }
    absl::StatusOr<std::vector<Trajectory>> episodes = learning::PlayEpisodes(
        game(), *scorer_, kSamples, learning::ChooseBySoftmax(rng()));
    if (!episodes.ok()) return {};
    return *std::move(episodes);
  }

  void Train(std::vector<Trajectory>) override {}

  const std::unique_ptr<const Scorer> scorer_;
  FirstGame first_game_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> CreatePolicy(
    const space::Problem& problem, const OptimizerOptions& options) {
  if (problem.assignment() != nullptr) {
    return MakeAssignmentSampling("policy", *problem.assignment(),
                                  {.shipped = true}, options);
  }
  const space::SequentialProblem& sequence = *problem.sequential();
  HONE_ASSIGN_OR_RETURN(auto prior, PriorOf(sequence, options));
  return std::make_unique<Policy>(sequence, std::move(prior), options);
}

}  // namespace hone::optimizers::policies
