#ifndef HONE_OPTIMIZERS_POLICIES_EPISODE_OPTIMIZER_H_
#define HONE_OPTIMIZERS_POLICIES_EPISODE_OPTIMIZER_H_

#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "base/hash.h"
#include "learning/games/rollout.h"
#include "optimizers/batch_optimizer.h"
#include "space/sequential_problem.h"

namespace hone::optimizers::policies {

// The base of optimizers that play episodes of a sequential problem and propose
// their results. Earlier measurements are kept, so none is proposed twice.
class EpisodeOptimizer : public BatchOptimizer {
 protected:
  EpisodeOptimizer(const space::SequentialProblem& problem,
                   const OptimizerOptions& options,
                   int32_t max_moves = learning::kUsualMoves);

  const learning::Game& game() const { return game_; }

  void Begin(absl::Span<const space::Trial> known) override;

  // Plays further episodes; returns none if nothing is left to try or the game
  // failed.
  virtual std::vector<learning::Trajectory> Play() = 0;
  // Receives trajectories of Play after their proposals are measured. Where
  // costs are not free, that is the reward of their last turns.
  virtual void Train(std::vector<learning::Trajectory> episodes) = 0;

 private:
  void Learn(const space::Trial& trial) final;
  std::vector<space::Candidate> Plan() final;
  // Passes the waiting trajectories to Train once all their costs are known.
  void Finish();

  const learning::Game game_;
  std::vector<learning::Trajectory> waiting_;
  // By the hash of the candidate's choices.
  absl::flat_hash_map<Hash128, space::Measurement> measured_;
};

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_EPISODE_OPTIMIZER_H_
