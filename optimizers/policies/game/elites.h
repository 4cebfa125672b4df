#ifndef HONE_OPTIMIZERS_POLICIES_GAME_ELITES_H_
#define HONE_OPTIMIZERS_POLICIES_GAME_ELITES_H_

#include <cstddef>
#include <vector>

#include "optimizers/policies/game/rollout.h"

namespace hone::optimizers::policies {

// The best few trajectories of one game, all with different proposals.
class Elites {
 public:
  explicit Elites(size_t capacity) : capacity_(capacity) {}

  // Keeps the trajectory if it is among the best: by cost, then by the number
  // of moves.
  void Offer(const Trajectory& episode);

  // Best first.
  const std::vector<Trajectory>& episodes() const { return episodes_; }
  // Returns the turns of all trajectories; valid until the next Offer.
  std::vector<const Turn*> Turns() const;

 private:
  const size_t capacity_;
  std::vector<Trajectory> episodes_;
};

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_GAME_ELITES_H_
