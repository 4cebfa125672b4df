#ifndef HONE_OPTIMIZERS_POLICIES_EPISODE_OPTIMIZER_H_
#define HONE_OPTIMIZERS_POLICIES_EPISODE_OPTIMIZER_H_

#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "base/hash.h"
#include "optimizers/batch_optimizer.h"
#include "optimizers/policies/rollout.h"

namespace hone::optimizers::policies {

// The frame of an optimizer that plays episodes and proposes what they end
// with. Proposals that were made before are not made again: what they cost is
// remembered.
class EpisodeOptimizer : public BatchOptimizer {
 protected:
  explicit EpisodeOptimizer(const space::Problem& problem);

  const Game& game() const { return *game_; }

  // Further episodes; none when there is nothing left to try or the game
  // failed.
  virtual std::vector<Episode> Play() = 0;
  // Takes in episodes of Play once what they propose is measured: `cost` and
  // the final reward are set.
  virtual void Train(std::vector<Episode> episodes) = 0;

 private:
  void Learn(const space::Trial& trial) final;
  std::vector<space::Candidate> Plan() final;
  // Hands the episodes that wait for their costs to Train.
  void Finish();

  const std::unique_ptr<const Game> game_;
  std::vector<Episode> waiting_;
  // By hash of the choices.
  absl::flat_hash_map<Hash128, double> costs_;
  bool has_default_ = false;
  double default_cost_ = 0;
};

// The hash of a candidate's choices.
Hash128 HashOf(const space::Candidate& candidate);

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_EPISODE_OPTIMIZER_H_
