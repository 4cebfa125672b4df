#ifndef HONE_OPTIMIZERS_POLICIES_ROLLOUT_H_
#define HONE_OPTIMIZERS_POLICIES_ROLLOUT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"

#include "base/rng.h"
#include "optimizers/policies/game.h"
#include "optimizers/policies/scorer.h"

namespace hone::optimizers::policies {

// One move of an episode and what was thought of it.
struct Turn {
  std::shared_ptr<const View> view;
  // Index into view->moves.
  int32_t chosen = 0;
  // Of the policy that chose, at temperature 1.
  float log_probability = 0;
  float value = 0;
  float reward = 0;
};

// A game from start to end.
struct Episode {
  std::vector<Turn> turns;
  Position end;
  space::Candidate proposal;
  // The cost of the proposal, once known.
  double cost = 0;

  double TotalReward() const;
};

// Chooses a move: an index into view.moves.
using Chooser =
    std::function<int32_t(const View& view, const MoveScores& scores)>;

// The highest score; the first of equals.
int32_t ChooseBest(const View& view, const MoveScores& scores);
// By the probabilities of a softmax.
Chooser ChooseBySoftmax(Rng& rng);
// Any, but stops only when there is nothing else: what lies far from the start
// is found by going on.
Chooser ChooseAny(Rng& rng);
// The best with probability 1 - epsilon, else as ChooseAny.
Chooser ChooseEpsilonGreedy(Rng& rng, double epsilon);

// Plays `count` games in lockstep, so that the scorer gets batches.
// Errors: those of the game.
absl::StatusOr<std::vector<Episode>> PlayEpisodes(const Game& game,
                                                  const Scorer& scorer,
                                                  int32_t count,
                                                  const Chooser& choose);

// The episode that makes these moves; log probabilities and values are left 0.
// Errors: InvalidArgument for a move that is not legal where it comes; those of
// the game.
absl::StatusOr<Episode> ReplayMoves(const Game& game,
                                    absl::Span<const int32_t> moves);

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_ROLLOUT_H_
