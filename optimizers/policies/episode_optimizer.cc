#include "optimizers/policies/episode_optimizer.h"

#include <utility>

#include "optimizers/moves.h"
#include "space/reward.h"

namespace hone::optimizers::policies {
namespace {

using learning::Trajectory;

// Rounds of episodes in a row that proposed nothing new, after which the space
// counts as exhausted.
constexpr int kMaxFruitless = 25;

}  // namespace

EpisodeOptimizer::EpisodeOptimizer(const space::SequentialProblem& problem,
                                   const OptimizerOptions& options,
                                   int32_t max_moves)
    : BatchOptimizer(problem, options), game_(problem, max_moves) {}

void EpisodeOptimizer::Begin(absl::Span<const space::Trial> known) {
  waiting_.clear();
  measured_.clear();
  for (const space::Trial& trial : known) Learn(trial);
}

void EpisodeOptimizer::Learn(const space::Trial& trial) {
  space::Measurement& measurement = measured_[HashOf(trial.candidate.choices)];
  measurement = trial.measurement;
  measurement.samples = {};
}

void EpisodeOptimizer::Finish() {
  if (waiting_.empty()) return;
  const space::SequentialProblem& problem = game_.problem();
  for (Trajectory& episode : waiting_) {
    episode.measurement = measured_.at(HashOf(episode.proposal.choices));
    if (!episode.turns.empty() && !problem.costs_are_free()) {
      episode.turns.back().reward += static_cast<float>(
          space::RewardOf(episode.measurement, problem.reference_cost()));
    }
  }
  Train(std::exchange(waiting_, {}));
}

std::vector<space::Candidate> EpisodeOptimizer::Plan() {
  Finish();
  for (int round = 0; round < kMaxFruitless; ++round) {
    if (stopped()) return {};
    waiting_ = Play();
    if (waiting_.empty()) return {};
    std::vector<space::Candidate> batch;
    absl::flat_hash_map<Hash128, bool> proposed;
    for (const Trajectory& episode : waiting_) {
      const Hash128 hash = HashOf(episode.proposal.choices);
      if (!measured_.contains(hash) && proposed.try_emplace(hash).second) {
        batch.push_back(episode.proposal);
      }
    }
    if (!batch.empty()) return batch;
    Finish();
  }
  return {};
}

}  // namespace hone::optimizers::policies
