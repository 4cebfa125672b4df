#ifndef HONE_LEARNING_GAMES_ROLLOUT_H_
#define HONE_LEARNING_GAMES_ROLLOUT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "base/rng.h"
#include "learning/games/game.h"
#include "learning/games/scorer.h"

namespace hone::learning {

// One move of a trajectory with the policy's evaluation of it.
struct Turn {
  std::shared_ptr<const View> view;
  // Index into view->moves.
  int32_t chosen = 0;
  // Under the policy that chose, at temperature 1.
  float log_probability = 0;
  float value = 0;
  float reward = 0;
  // True if `chosen` had the highest score.
  bool greedy = false;
  // True if it led to another state.
  bool changed = false;
};

// The record of a game from its start to `end`, which need not be its end.
struct Trajectory {
  explicit Trajectory(GameState start) : end(std::move(start)) {}

  std::vector<Turn> turns;
  GameState end;
  // The policy's estimate of `end`, as PlayOn sets it; 0 if the game is over.
  float value_after = 0;
  space::Candidate proposal;
  // The measurement of the proposal, once known.
  space::Measurement measurement;

  double TotalReward() const;
};

// The number of legal moves that do not end the game, which come first; all
// where none is left but to stop.
size_t MovesThatGoOn(const View& view);

// Chooses a move: an index into view.moves.
using Chooser =
    std::function<int32_t(const View& view, const MoveScores& scores)>;

// Chooses the highest score; the first of equal ones.
int32_t ChooseBest(const View& view, const MoveScores& scores);
// The same among the moves that go on: a search loses nothing by what comes
// after the best state, and a policy may stop early where a module is unlike
// those that it was trained on.
int32_t ChooseBestAndGoOn(const View& view, const MoveScores& scores);
// Samples from a softmax over the scores.
Chooser ChooseBySoftmax(Rng& rng);
// Chooses uniformly, but stops only if no other move is left, so that states
// far from the start are explored.
Chooser ChooseAny(Rng& rng);
// Chooses the best with probability 1 - epsilon, else as ChooseAny.
Chooser ChooseEpsilonGreedy(Rng& rng, double epsilon);

// Plays games on in lockstep, so that the scorer gets batches: `moves` further
// moves each, or to the end. Errors: those of the game.
absl::Status PlayOn(const Game& game, const Scorer& scorer,
                    const Chooser& choose, int32_t moves,
                    absl::Span<Trajectory> episodes);

// Plays `count` games from start to end. Errors: those of the game.
absl::StatusOr<std::vector<Trajectory>> PlayEpisodes(const Game& game,
                                                     const Scorer& scorer,
                                                     int32_t count,
                                                     const Chooser& choose);

// Returns the trajectory of these moves; log probabilities and values are 0.
// Errors: InvalidArgument for a move that its View does not offer (illegal, or
// known to change nothing); those of the game.
absl::StatusOr<Trajectory> ReplayMoves(const Game& game,
                                       absl::Span<const int32_t> moves);

// Returns the turns of `trajectory` that are worth imitating: those that
// changed the state, up to the cheapest one, and to stop there if the game went
// on. None if nothing was cheaper than the start.
std::vector<Turn> UsefulTurns(const Trajectory& trajectory);

}  // namespace hone::learning

#endif  // HONE_LEARNING_GAMES_ROLLOUT_H_
