#include "optimizers/policies/episode_optimizer.h"

#include <utility>

namespace hone::optimizers::policies {
namespace {

// Rounds of episodes in a row that proposed nothing new, after which the space
// counts as exhausted.
constexpr int kMaxFruitless = 25;

}  // namespace

Hash128 HashOf(const space::Candidate& candidate) {
  return FastHash({reinterpret_cast<const char*>(candidate.choices.data()),
                   candidate.choices.size() * sizeof(int32_t)});
}

EpisodeOptimizer::EpisodeOptimizer(const space::Problem& problem)
    : BatchOptimizer(problem), game_(Game::Make(problem)) {}

void EpisodeOptimizer::Learn(const space::Trial& trial) {
  const double cost = space::EffectiveCost(trial.measurement);
  costs_[HashOf(trial.candidate)] = cost;
  if (!has_default_) {
    has_default_ = true;
    default_cost_ = cost;
  }
}

void EpisodeOptimizer::Finish() {
  if (waiting_.empty()) return;
  for (Trajectory& episode : waiting_) {
    episode.cost = costs_.at(HashOf(episode.proposal));
    if (!episode.turns.empty()) {
      episode.turns.back().reward +=
          static_cast<float>(game_->FinalReward(episode.cost, default_cost_));
    }
  }
  Train(std::exchange(waiting_, {}));
}

std::vector<space::Candidate> EpisodeOptimizer::Plan() {
  Finish();
  for (int round = 0; round < kMaxFruitless; ++round) {
    waiting_ = Play();
    if (waiting_.empty()) return {};
    std::vector<space::Candidate> batch;
    absl::flat_hash_map<Hash128, double> proposed;
    for (const Trajectory& episode : waiting_) {
      const Hash128 hash = HashOf(episode.proposal);
      if (!costs_.contains(hash) && proposed.try_emplace(hash, 0).second) {
        batch.push_back(episode.proposal);
      }
    }
    if (!batch.empty()) return batch;
    Finish();
  }
  return {};
}

}  // namespace hone::optimizers::policies
