#ifndef HONE_LEARNING_GAMES_LABELS_H_
#define HONE_LEARNING_GAMES_LABELS_H_

#include <memory>
#include <vector>

#include "learning/games/game.h"

namespace hone::learning {

// The effects of one step from a state, by move, without the last, to stop.
struct MoveLabels {
  std::shared_ptr<const View> view;
  // [moves - 1]: whether the effect is known, of one at least. Empty if all are
  // and to stop is to be compared with them.
  std::vector<bool> tried = {};
  std::vector<bool> changes;   // [moves - 1]
  std::vector<float> rewards;  // [moves - 1], 0 where nothing changes
};

}  // namespace hone::learning

#endif  // HONE_LEARNING_GAMES_LABELS_H_
