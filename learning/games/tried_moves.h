#ifndef HONE_LEARNING_GAMES_TRIED_MOVES_H_
#define HONE_LEARNING_GAMES_TRIED_MOVES_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"

#include "base/hash.h"
#include "base/rng.h"
#include "learning/games/labels.h"
#include "learning/games/rollout.h"

namespace hone::learning {

// Remembers, for each state, what the moves of played episodes did. These
// labels need no further evaluations. Forgets everything once the views of the
// states take more than about `max_bytes`.
class TriedMoves {
 public:
  explicit TriedMoves(size_t max_bytes = 256 << 20) : max_bytes_(max_bytes) {}

  // Adds the turns of an episode of a game whose costs are free.
  void Add(absl::Span<const Turn> turns);

  // Draws up to `count` of the states in which at least two moves were tried.
  std::vector<MoveLabels> Draw(size_t count, Rng& rng) const;

 private:
  struct Tried {
    MoveLabels labels;
    size_t moves = 0;

    // Shows the state by another view, with more of its moves.
    void Show(const std::shared_ptr<const View>& view);
    // The index of a move in the view, or the number of all.
    size_t IndexOf(int32_t move) const;
  };

  const size_t max_bytes_;
  size_t bytes_ = 0;
  std::vector<Tried> states_;
  // By View::state: indices of states_.
  absl::flat_hash_map<Hash128, size_t> index_;
};

}  // namespace hone::learning

#endif  // HONE_LEARNING_GAMES_TRIED_MOVES_H_
