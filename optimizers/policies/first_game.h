#ifndef HONE_OPTIMIZERS_POLICIES_FIRST_GAME_H_
#define HONE_OPTIMIZERS_POLICIES_FIRST_GAME_H_

#include <optional>

#include "learning/games/rollout.h"

namespace hone::optimizers::policies {

// The game that a policy plays first: its best move each time, on to the last
// move. It comes in parts, so that a search that is stopped early has what the
// first moves gave.
class FirstGame {
 public:
  // `game` and `scorer` outlive this.
  FirstGame(const learning::Game& game, const learning::Scorer& scorer);

  // Plays some moves and returns the game so far; nothing if it was over, or
  // fails.
  std::optional<learning::Trajectory> NextPart();

 private:
  const learning::Game& game_;
  const learning::Scorer& scorer_;
  learning::Trajectory played_;
};

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_FIRST_GAME_H_
