#ifndef HONE_OPTIMIZERS_POLICIES_GAME_H_
#define HONE_OPTIMIZERS_POLICIES_GAME_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"

#include "base/hash.h"
#include "space/problem.h"

namespace hone::optimizers::policies {

// What is told of each legal move: times made so far, whether it was the last
// one, and two numbers of the kind of game.
inline constexpr int32_t kMoveFeatures = 4;
// What the game adds to the global features of an observation: the part of the
// moves that is left, the cost and the least cost so far relative to the start.
inline constexpr int32_t kGameFeatures = 3;

// The sizes that a policy is built for.
struct GameSpec {
  space::ObservationSpec observation;
  int32_t move_kinds = 1;

  friend bool operator==(const GameSpec&, const GameSpec&) = default;
};

// What a policy sees before a move. Its legal moves may be any number.
struct View {
  // Shared by all views of one state.
  std::shared_ptr<const space::Observation> graph;
  // The node that the move is about; -1 when it is about the whole.
  int32_t focus = -1;
  std::vector<float> game_features;  // [kGameFeatures]
  std::vector<int32_t> moves;        // the legal ones, never empty
  // Whether the last of `moves` ends the game.
  bool last_stops = false;
  std::vector<int32_t> move_kinds;   // [moves], 0 … spec.move_kinds-1
  std::vector<float> move_features;  // [moves, kMoveFeatures], row-major
};

// A problem as a game for one player: moves from a start until it is over, each
// with a reward. A value; copying it forks the game.
struct Position {
  // Of a sequential problem; null for an assignment.
  space::StatePtr state;
  // Every move so far.
  std::vector<int32_t> moves;
  // The candidate that the moves so far make: those that changed something; the
  // values so far.
  std::vector<int32_t> choices;
  // Moves that changed nothing since the state last changed.
  std::vector<int32_t> barren;
  double cost = 0;       // of `state`
  double best_cost = 0;  // of all states passed
  // How many of `choices` lead to best_cost.
  size_t best_length = 0;
  // What the last move gained.
  double reward = 0;
  bool over = false;
};

// Threads: const methods are thread-safe, but for Observe of one Game.
class Game {
 public:
  virtual ~Game() = default;

  // The game of `problem`, which must outlive it.
  static std::unique_ptr<Game> Make(const space::Problem& problem);

  const space::Problem& problem() const { return problem_; }
  virtual GameSpec spec() const = 0;
  virtual Position Start() const = 0;
  // Errors: those of the problem's Step. `move` is one of the View's.
  virtual absl::StatusOr<Position> Play(const Position& position,
                                        int32_t move) const = 0;
  // `position` is not over.
  virtual View Observe(const Position& position) const = 0;
  // The candidate that a finished game proposes.
  virtual space::Candidate Proposal(const Position& position) const = 0;
  // What a game earns at its end, on top of the rewards of its moves, once its
  // proposal turned out to cost `cost` (infinity for a failure) where the
  // problem's default costs `default_cost`.
  virtual double FinalReward(double cost, double default_cost) const = 0;

 protected:
  explicit Game(const space::Problem& problem) : problem_(problem) {}

 private:
  const space::Problem& problem_;
};

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_GAME_H_
