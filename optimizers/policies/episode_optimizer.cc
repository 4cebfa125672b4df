#include "optimizers/policies/episode_optimizer.h"

#include <utility>

#include "optimizers/moves.h"

namespace hone::optimizers::policies {
namespace {

// Rounds of episodes in a row that proposed nothing new, after which the space
// counts as exhausted.
constexpr int kMaxFruitless = 25;

}  // namespace

EpisodeOptimizer::EpisodeOptimizer(const space::Problem& problem,
                                   const OptimizerOptions& options)
    : BatchOptimizer(problem, options), game_(Game::Make(problem)) {}

void EpisodeOptimizer::Begin(absl::Span<const space::Trial> known) {
  waiting_.clear();
  costs_.clear();
  has_default_ = false;
  for (const space::Trial& trial : known) Learn(trial);
}

void EpisodeOptimizer::Learn(const space::Trial& trial) {
  const double cost = space::EffectiveCost(trial.measurement);
  costs_[HashOf(trial.candidate.choices)] = cost;
  if (!has_default_) {
    has_default_ = true;
    default_cost_ = cost;
  }
}

void EpisodeOptimizer::Finish() {
  if (waiting_.empty()) return;
  for (Trajectory& episode : waiting_) {
    episode.cost = costs_.at(HashOf(episode.proposal.choices));
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
      const Hash128 hash = HashOf(episode.proposal.choices);
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
