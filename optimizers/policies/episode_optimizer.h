#ifndef HONE_OPTIMIZERS_POLICIES_EPISODE_OPTIMIZER_H_
#define HONE_OPTIMIZERS_POLICIES_EPISODE_OPTIMIZER_H_

#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "base/hash.h"
#include "optimizers/batch_optimizer.h"
#include "optimizers/policies/game/rollout.h"

namespace hone::optimizers::policies {

// The base of optimizers that play episodes and propose their results. Costs of
// earlier proposals are cached, so none is proposed twice.
class EpisodeOptimizer : public BatchOptimizer {
 protected:
  EpisodeOptimizer(const space::Problem& problem,
                   const OptimizerOptions& options);

  const Game& game() const { return *game_; }

  // Plays further episodes; returns none if nothing is left to try or the game
  // failed.
  virtual std::vector<Trajectory> Play() = 0;
  // Receives trajectories of Play after their proposals are measured: `cost`
  // and the final reward are set.
  virtual void Train(std::vector<Trajectory> episodes) = 0;

 private:
  void Begin(absl::Span<const space::Trial> known) final;
  void Learn(const space::Trial& trial) final;
  std::vector<space::Candidate> Plan() final;
  // Passes the waiting trajectories to Train once all their costs are known.
  void Finish();

  const std::unique_ptr<const Game> game_;
  std::vector<Trajectory> waiting_;
  // Costs of candidates, by the hash of their choices.
  absl::flat_hash_map<Hash128, double> costs_;
  bool has_default_ = false;
  double default_cost_ = 0;
};

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_EPISODE_OPTIMIZER_H_
