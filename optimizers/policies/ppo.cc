#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "optimizers/policies/elites.h"
#include "optimizers/policies/episode_optimizer.h"
#include "optimizers/policies/factories.h"
#include "optimizers/policies/ppo_learner.h"
#include "optimizers/policies/weights.h"

namespace hone::optimizers::policies {
namespace {

constexpr int32_t kEpisodesPerUpdate = 16;
constexpr size_t kElites = 4;

// Learns to play this one problem while tuning it.
class Ppo final : public EpisodeOptimizer {
 public:
  Ppo(absl::string_view name, const space::Problem& problem,
      std::unique_ptr<Model> model, const PpoOptions& options, uint64_t seed)
      : EpisodeOptimizer(problem),
        name_(name),
        rng_(seed),
        model_(std::move(model)),
        learner_(*model_, options, seed),
        elites_(kElites) {}

  absl::string_view name() const override { return name_; }

 private:
  std::vector<Episode> Play() override {
    absl::StatusOr<std::vector<Episode>> episodes = PlayEpisodes(
        game(), *model_, kEpisodesPerUpdate, ChooseBySoftmax(rng_));
    if (!episodes.ok()) return {};
    return *std::move(episodes);
  }

  void Train(std::vector<Episode> episodes) override {
    for (const Episode& episode : episodes) elites_.Offer(episode);
    learner_.Update({std::move(episodes)}, elites_.Turns());
  }

  const absl::string_view name_;
  Rng rng_;
  const std::unique_ptr<Model> model_;
  PpoLearner learner_;
  Elites elites_;
};

}  // namespace

std::unique_ptr<Optimizer> PpoFrom(absl::string_view name,
                                   const space::Problem& problem,
                                   std::unique_ptr<Model> model,
                                   const PpoOptions& options, uint64_t seed) {
  return std::make_unique<Ppo>(name, problem, std::move(model), options, seed);
}

absl::StatusOr<std::unique_ptr<Optimizer>> CreatePpo(
    const space::Problem& problem, const OptimizerOptions& options) {
  return PpoFrom("ppo", problem, NewModel(problem, options), PpoOptions{},
                 options.seed);
}

}  // namespace hone::optimizers::policies
