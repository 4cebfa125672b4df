#ifndef HONE_LEARNING_GAMES_GAME_H_
#define HONE_LEARNING_GAMES_GAME_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

#include "base/hash.h"
#include "space/episode.h"
#include "space/sequential_problem.h"

namespace hone::learning {

// The move that ends a game.
inline constexpr int32_t kStopMove = -1;
// The most moves of a game by default: several times what a default order
// takes, and short enough that a rollout is quick.
inline constexpr int32_t kUsualMoves = 64;
// Features that the game adds to those of each move, in this order: how often
// it was made (a logarithm), whether it was the last one with effect, how often
// it had one (a logarithm), and the moves without effect since the state last
// changed, in sixteenths.
inline constexpr int32_t kMoveFeatures = 4;
// Features that the game adds to the global features of an observation: the
// share of moves left, and the current and least cost relative to the start.
inline constexpr int32_t kGameFeatures = 3;

// The sizes and names of what a policy sees and chooses among.
struct GameSpec {
  space::ObservationSpec observation;
  space::ActionSpec actions;

  // The kinds of moves: those of actions and, last, to stop.
  int32_t move_kinds() const {
    return static_cast<int32_t>(actions.kind_names.size()) + 1;
  }
  // The number of features of a move: the action's, then kMoveFeatures.
  int32_t move_features() const {
    return static_cast<int32_t>(actions.feature_names.size()) + kMoveFeatures;
  }

  friend bool operator==(const GameSpec&, const GameSpec&) = default;
};

// The input of a policy before a move. It may have any number of legal moves.
struct View {
  // Shared by all views of one state.
  std::shared_ptr<const space::Observation> graph;
  std::vector<float> game_features;  // [kGameFeatures]
  std::vector<int32_t> moves;        // the legal ones; the last is kStopMove
  std::vector<int32_t> kinds;        // [moves], 0 … spec.move_kinds()-1
  std::vector<int32_t> focus;        // [moves], a node of the graph or -1
  std::vector<float> features;       // [moves, spec.move_features()], row-major
  Hash128 state = {};                // its key
};

// The state of a game. A value; copying it forks the game.
struct GameState {
  explicit GameState(space::Episode start) : episode(std::move(start)) {}

  space::Episode episode;
  // All moves so far.
  std::vector<int32_t> moves = {};
  // The candidate so far: the moves that were not no-ops.
  std::vector<int32_t> choices = {};
  // The no-op moves since the state last changed.
  int32_t no_ops = 0;
  // Costs of the current state and of the cheapest one passed; 1 if the
  // problem's costs are not free.
  double cost = 1;
  double best_cost = 1;
  // The number of `choices` that lead to best_cost, and of `moves`.
  size_t best_length = 0;
  size_t best_moves = 0;
  // The reward of the last move: the episode's.
  double reward = 0;

  bool over() const { return episode.ended(); }
};

// A sequential problem as a game for one player: an episode, with all that a
// policy is shown of it, and the candidate that it proposes.
// Threads: const methods are thread-safe, except Observe of one Game.
class Game {
 public:
  // `problem` outlives the game. Games have up to `max_moves` moves, and no
  // more than the problem's sequences have.
  explicit Game(const space::SequentialProblem& problem,
                int32_t max_moves = kUsualMoves);

  const space::SequentialProblem& problem() const { return problem_; }
  const GameSpec& spec() const { return spec_; }
  GameState Start() const;
  // Returns the state after `move`, one of the View's. A move whose action
  // fails is a no-op. Errors: Unavailable and Cancelled of the problem's Step.
  absl::StatusOr<GameState> Play(const GameState& position, int32_t move) const;
  // `position` is not over.
  View Observe(const GameState& position) const;
  // Returns the candidate that a game proposes: the moves with effect up to the
  // cheapest state passed, or all of them if costs are not free.
  space::Candidate Proposal(const GameState& position) const;

 private:
  double CostOf(const space::StatePtr& state) const;

  const space::SequentialProblem& problem_;
  const GameSpec spec_;
  const int32_t max_moves_;
  const double initial_cost_;
  // The observation of each state.
  mutable absl::flat_hash_map<Hash128,
                              std::shared_ptr<const space::Observation>>
      graphs_;
  mutable size_t nodes_ = 0;  // of graphs_
};

}  // namespace hone::learning

#endif  // HONE_LEARNING_GAMES_GAME_H_
