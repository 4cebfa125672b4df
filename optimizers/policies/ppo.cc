#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "learning/games/elites.h"
#include "learning/ppo_learner.h"
#include "optimizers/policies/assignment_sampling.h"
#include "optimizers/policies/episode_optimizer.h"
#include "optimizers/policies/factories.h"
#include "optimizers/policies/weights.h"

namespace hone::optimizers::policies {
namespace {

using learning::Model;
using learning::PpoOptions;
using learning::Trajectory;

constexpr int32_t kEpisodesPerUpdate = 12;
// Beside them, episodes of random moves: what they find, the policy imitates,
// so that it does not settle on what pays first.
constexpr int32_t kExploringEpisodes = 4;
constexpr size_t kElites = 4;

// Learns to play this one problem while tuning it.
class Ppo final : public EpisodeOptimizer {
 public:
  Ppo(absl::string_view name, const space::SequentialProblem& problem,
      std::unique_ptr<Model> model, const PpoOptions& ppo,
      const OptimizerOptions& options)
      : EpisodeOptimizer(problem, options),
        name_(name),
        model_(std::move(model)),
        learner_(*model_, ppo, options.seed),
        elites_(kElites) {}

  absl::string_view name() const override { return name_; }

 private:
  std::vector<Trajectory> Play() override {
    absl::StatusOr<std::vector<Trajectory>> episodes = learning::PlayEpisodes(
        game(), *model_, kEpisodesPerUpdate, learning::ChooseBySoftmax(rng()));
    absl::StatusOr<std::vector<Trajectory>> exploring =
        learning::PlayEpisodes(game(), learning::UniformScorer(),
                               kExploringEpisodes, learning::ChooseAny(rng()));
    if (!episodes.ok() || !exploring.ok()) return {};
    std::move(exploring->begin(), exploring->end(),
              std::back_inserter(*episodes));
    return *std::move(episodes);
  }

  void Train(std::vector<Trajectory> episodes) override {
    for (const Trajectory& episode : episodes) elites_.Offer(episode);
    // The update is for what the policy itself played.
    episodes.erase(episodes.begin() + kEpisodesPerUpdate, episodes.end());
    learner_.Update({std::move(episodes)}, elites_.Turns());
  }

  const absl::string_view name_;
  const std::unique_ptr<Model> model_;
  learning::PpoLearner learner_;
  learning::Elites elites_;
};

}  // namespace

std::unique_ptr<Optimizer> PpoFrom(absl::string_view name,
                                   const space::SequentialProblem& problem,
                                   std::unique_ptr<Model> model,
                                   const PpoOptions& ppo,
                                   const OptimizerOptions& options) {
  return std::make_unique<Ppo>(name, problem, std::move(model), ppo, options);
}

absl::StatusOr<std::unique_ptr<Optimizer>> CreatePpo(
    const space::Problem& problem, const OptimizerOptions& options) {
  if (problem.assignment() != nullptr) {
    return MakeAssignmentSampling("ppo", *problem.assignment(),
                                  {.learn = true, .polish = false}, options);
  }
  return PpoFrom("ppo", *problem.sequential(),
                 NewModel(*problem.sequential(), options), PpoOptions{},
                 options);
}

}  // namespace hone::optimizers::policies
