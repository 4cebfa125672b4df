#ifndef HONE_OPTIMIZERS_POLICIES_GAME_GAME_H_
#define HONE_OPTIMIZERS_POLICIES_GAME_GAME_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "base/hash.h"
#include "space/assignment_problem.h"
#include "space/sequential_problem.h"

namespace hone::optimizers::policies {

// Features of each legal move: how often it was made, whether it was the last
// one, and two features that depend on the kind of game.
inline constexpr int32_t kMoveFeatures = 4;
// Features that the game adds to the global features of an observation: the
// share of moves left, and the current and least cost relative to the start.
inline constexpr int32_t kGameFeatures = 3;

// The sizes of a policy's inputs.
struct GameSpec {
  space::ObservationSpec observation;
  int32_t move_kinds = 1;
  // The names of a sequential problem's actions, which are the move kinds but
  // for the last one, to stop. Empty if moves have no names.
  std::vector<std::string> action_names = {};

  friend bool operator==(const GameSpec&, const GameSpec&) = default;
};

// The input of a policy before a move. It may have any number of legal moves.
struct View {
  // Shared by all views of one state.
  std::shared_ptr<const space::Observation> graph;
  // The node that the move concerns; -1 if it concerns the whole graph.
  int32_t focus = -1;
  std::vector<float> game_features;  // [kGameFeatures]
  std::vector<int32_t> moves;        // the legal ones, never empty
  // True if the last of `moves` ends the game.
  bool last_stops = false;
  std::vector<int32_t> move_kinds;   // [moves], 0 … spec.move_kinds-1
  std::vector<float> move_features;  // [moves, kMoveFeatures], row-major
};

// The state of a game: a problem as a game for one player, who makes moves
// until it is over, each with a reward. A value; copying it forks the game.
struct GameState {
  // The state of a sequential problem; null for an assignment problem.
  space::StatePtr state;
  // All moves so far.
  std::vector<int32_t> moves;
  // The candidate so far: the moves that were not no-ops, or the values.
  std::vector<int32_t> choices;
  // The no-op moves since the state last changed.
  std::vector<int32_t> no_op_moves;
  double cost = 0;       // of `state`
  double best_cost = 0;  // of all states passed
  // The number of `choices` that lead to best_cost.
  size_t best_length = 0;
  // The reward of the last move.
  double reward = 0;
  bool over = false;
};

// The rules of a game. Threads: const methods are thread-safe, except Observe
// of one Game.
class Game {
 public:
  virtual ~Game() = default;

  // Returns the game of `problem`, which must outlive it.
  static std::unique_ptr<Game> Make(const space::Problem& problem);

  const space::Problem& problem() const { return problem_; }
  virtual GameSpec spec() const = 0;
  virtual GameState Start() const = 0;
  // Returns the state after `move`, one of the View's. A move whose action
  // fails is a no-op. Errors: Unavailable and Cancelled of the problem's Step.
  virtual absl::StatusOr<GameState> Play(const GameState& position,
                                         int32_t move) const = 0;
  // `position` is not over.
  virtual View Observe(const GameState& position) const = 0;
  // Returns the candidate that a finished game proposes.
  virtual space::Candidate Proposal(const GameState& position) const = 0;
  // Returns the reward at the end of a game, in addition to those of its moves,
  // for a proposal of cost `cost` (infinity for a failure). `default_cost` is
  // the cost of the problem's default.
  virtual double FinalReward(double cost, double default_cost) const = 0;

 protected:
  explicit Game(const space::Problem& problem) : problem_(problem) {}

 private:
  const space::Problem& problem_;
};

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_GAME_GAME_H_
