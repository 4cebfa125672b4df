#ifndef HONE_LEARNING_GAMES_ELITES_H_
#define HONE_LEARNING_GAMES_ELITES_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"

#include "base/rng.h"
#include "learning/games/rollout.h"

namespace hone::learning {

// The best few trajectories of one game, all with different proposals.
class Elites {
 public:
  explicit Elites(size_t capacity) : capacity_(capacity) {}

  // Keeps the trajectory if its proposal is ok and among the best: by cost,
  // then by the number of actions.
  void Offer(const Trajectory& episode);

  // Best first.
  const std::vector<Trajectory>& episodes() const { return episodes_; }
  // Returns a game in a state on the way of one of them, drawn evenly, after
  // the moves with effect that lead there: of two drawn lengths of the way the
  // larger, as more is left to find near its end. The initial state if there is
  // none, or the game would be over there. Errors: those of the game.
  absl::StatusOr<Trajectory> DrawStart(const Game& game, Rng& rng) const;
  // Returns the turns of all trajectories that are worth imitating
  // (UsefulTurns).
  std::vector<Turn> Turns() const;

 private:
  const size_t capacity_;
  std::vector<Trajectory> episodes_;
};

}  // namespace hone::learning

#endif  // HONE_LEARNING_GAMES_ELITES_H_
