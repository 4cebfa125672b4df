#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "base/status_macros.h"
#include "learning/games/elites.h"
#include "optimizers/policies/assignment_sampling.h"
#include "optimizers/policies/episode_optimizer.h"
#include "optimizers/policies/factories.h"
#include "optimizers/policies/first_game.h"
#include "optimizers/policies/weights.h"

namespace hone::optimizers::policies {
namespace {

using learning::Scorer;
using learning::Trajectory;

constexpr size_t kSamples = 8;
constexpr size_t kElites = 4;

// Plays as the policy says without learning: first the best move each time,
// then samples. Of each round one starts from the initial state, the others
// from states on the way to the best so far.
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
    std::vector<Trajectory> episodes;
    for (size_t i = 0; i < kSamples; ++i) {
      if (i == 0) {
        episodes.emplace_back(game().Start());
        continue;
      }
      absl::StatusOr<Trajectory> from = elites_.DrawStart(game(), rng());
      if (!from.ok()) return {};
      episodes.push_back(*std::move(from));
    }
    if (!learning::PlayOn(game(), *scorer_, learning::ChooseBySoftmax(rng()),
                          std::numeric_limits<int32_t>::max(),
                          absl::MakeSpan(episodes))
             .ok()) {
      return {};
    }
    return episodes;
  }

  void Train(std::vector<Trajectory> episodes) override {
    for (const Trajectory& episode : episodes) elites_.Offer(episode);
  }

  const std::unique_ptr<const Scorer> scorer_;
  FirstGame first_game_;
  learning::Elites elites_{kElites};
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
