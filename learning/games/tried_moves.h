#ifndef HONE_LEARNING_GAMES_TRIED_MOVES_H_
#define HONE_LEARNING_GAMES_TRIED_MOVES_H_

#include <cstddef>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"

#include "base/rng.h"
#include "learning/games/labels.h"
#include "learning/games/rollout.h"

namespace hone::learning {

// What the moves of played episodes did, by state: labels that cost nothing,
// as playing has evaluated them.
class TriedMoves {
 public:
  // Adds the turns of an episode of a game whose costs are free.
  void Add(absl::Span<const Turn> turns);

  // Draws up to `count` of the states in which at least two moves were tried.
  std::vector<MoveLabels> Draw(size_t count, Rng& rng) const;

 private:
  struct Tried {
    MoveLabels labels;
    size_t moves = 0;
  };
  std::vector<Tried> states_;
  // By the graph, which all views of one state share: an index of states_.
  absl::flat_hash_map<const space::Observation*, size_t> index_;
};

}  // namespace hone::learning

#endif  // HONE_LEARNING_GAMES_TRIED_MOVES_H_
