#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "learning/dqn_learner.h"
#include "optimizers/policies/episode_optimizer.h"
#include "optimizers/policies/factories.h"
#include "optimizers/policies/weights.h"

namespace hone::optimizers::policies {
namespace {

using learning::Model;
using learning::Trajectory;

constexpr int32_t kEpisodesPerUpdate = 8;
constexpr int32_t kStepsPerUpdate = 4;
// Exploration falls from 1 to the last value over these episodes.
constexpr double kLastEpsilon = 0.1;
constexpr double kExploringEpisodes = 400;

class Dqn final : public EpisodeOptimizer {
 public:
  Dqn(const space::SequentialProblem& problem, std::unique_ptr<Model> model,
      const OptimizerOptions& options)
      : EpisodeOptimizer(problem, options),
        model_(std::move(model)),
        learner_(*model_, learning::DqnOptions{}, options.seed) {}

  absl::string_view name() const override { return "dqn"; }

 private:
  std::vector<Trajectory> Play() override {
    const double epsilon =
        std::max(kLastEpsilon, 1 - episodes_ / kExploringEpisodes);
    absl::StatusOr<std::vector<Trajectory>> episodes =
        learning::PlayEpisodes(game(), *model_, kEpisodesPerUpdate,
                               learning::ChooseEpsilonGreedy(rng(), epsilon));
    if (!episodes.ok()) return {};
    episodes_ += kEpisodesPerUpdate;
    return *std::move(episodes);
  }

  void Train(std::vector<Trajectory> episodes) override {
    for (const Trajectory& episode : episodes) learner_.Remember(episode);
    learner_.Update(kStepsPerUpdate);
  }

  const std::unique_ptr<Model> model_;
  learning::DqnLearner learner_;
  double episodes_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> CreateDqn(
    const space::Problem& problem, const OptimizerOptions& options) {
  const space::SequentialProblem& sequence = *problem.sequential();
  return std::make_unique<Dqn>(sequence, NewModel(sequence, options), options);
}

}  // namespace hone::optimizers::policies
