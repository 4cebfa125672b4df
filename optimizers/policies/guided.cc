#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"

#include "base/rng.h"
#include "base/status_macros.h"
#include "learning/games/rollout.h"
#include "optimizers/batch_optimizer.h"
#include "optimizers/moves.h"
#include "optimizers/policies/assignment_sampling.h"
#include "optimizers/policies/factories.h"
#include "optimizers/policies/weights.h"

namespace hone::optimizers::policies {
namespace {

using learning::Game;
using learning::GameState;
using learning::Scorer;
using learning::View;

// The likeliest other moves of a state, which later games may begin with.
constexpr size_t kBranches = 16;
// Games in a row without a new proposal after which the space counts as
// exhausted.
constexpr int kMaxFruitlessGames = 400;

// Limited discrepancy search (Harvey and Ginsberg, 1995) under a policy.
//
// The first game makes the likeliest move each time, on to the last one. Each
// later game departs from an earlier one with the untried move of least regret:
// the logarithm of how much likelier the policy's own choices were, summed over
// the departures on the way. Gumbel noise on it samples departures without
// replacement. From there it goes on with the likeliest moves until it comes to
// a state of an earlier game. Policies are asked once for each new state, not
// again after a move without effect.
class Guided final : public BatchOptimizer {
 public:
  Guided(const space::SequentialProblem& problem,
         std::unique_ptr<const Scorer> scorer, const OptimizerOptions& options)
      : BatchOptimizer(problem, options),
        game_(problem),
        scorer_(std::move(scorer)) {}

  absl::string_view name() const override { return "guided"; }

 private:
  struct Move {
    double log_probability = 0;
    int32_t move = 0;
  };
  struct Departure {
    double priority = 0;  // less comes first
    double regret = 0;
    std::shared_ptr<const GameState> from;
    int32_t move = 0;
  };
  struct Later {
    bool operator()(const Departure& a, const Departure& b) const {
      return a.priority > b.priority;
    }
  };

  void Begin(absl::Span<const space::Trial> known) override {
    games_ = 0;
    playing_.reset();
    departures_ = {};
    first_seen_.clear();
    proposed_.clear();
    for (const space::Trial& trial : known) {
      proposed_.insert(HashOf(trial.candidate.choices));
    }
  }

  // Nothing is gained behind a state that cannot be measured.
  void Learn(const space::Trial& trial) override {
    if (!std::isfinite(space::EffectiveCost(trial.measurement))) {
      playing_.reset();
    }
  }

  std::vector<space::Candidate> Plan() override {
    for (int game = 0; game < kMaxFruitlessGames; ++game) {
      if (!playing_ && !StartGame()) return {};
      while (playing_) {
        const bool proposes = PlayOn();
        space::Candidate proposal = game_.Proposal(*playing_);
        if (!goes_on_) playing_.reset();
        if (proposes && proposed_.insert(HashOf(proposal.choices)).second) {
          return {std::move(proposal)};
        }
      }
    }
    return {};
  }

  bool StartGame() {
    if (games_ == 0) {
      best_cost_ = std::numeric_limits<double>::infinity();
      Enter(game_.Start(), 0);
      return true;
    }
    while (!departures_.empty()) {
      const Departure departure = departures_.top();
      departures_.pop();
      absl::StatusOr<GameState> next =
          game_.Play(*departure.from, departure.move);
      if (!next.ok() || first_seen_.contains(next->episode.state()->key())) {
        continue;
      }
      Enter(*std::move(next), departure.regret);
      return true;
    }
    return false;
  }

  void Enter(GameState state, double regret) {
    playing_ = std::move(state);
    regret_ = regret;
    first_seen_[playing_->episode.state()->key()] = ++games_;
    goes_on_ = is_new_ = true;
  }

  // Considers the state that was entered, or makes a move. Returns true if what
  // the game proposes now is worth a trial: it is better than all before, or
  // the game is at its end. Sets goes_on_.
  bool PlayOn() {
    if (is_new_) {
      is_new_ = false;
      RankMoves();
      if (Improves()) return true;
    }
    goes_on_ = !playing_->over() && MakeMove();
    if (!goes_on_) return true;
    is_new_ = playing_->no_ops == 0;
    return false;
  }

  // Makes the likeliest move left. False if there is none, or if it leads to a
  // state of an earlier game.
  bool MakeMove() {
    while (!moves_.empty() && playing_->episode.IsNoOp(moves_.back().move)) {
      moves_.pop_back();
    }
    if (moves_.empty()) return false;
    absl::StatusOr<GameState> next = game_.Play(*playing_, moves_.back().move);
    moves_.pop_back();
    if (!next.ok()) return false;
    playing_ = *std::move(next);
    const auto [seen, is_first] =
        first_seen_.try_emplace(playing_->episode.state()->key(), games_);
    return is_first || seen->second == games_;
  }

  // Where costs must be measured, every state is worth it.
  bool Improves() {
    if (!game_.problem().costs_are_free()) return true;
    if (playing_->cost >= best_cost_) return false;
    best_cost_ = playing_->cost;
    return true;
  }

  // Asks the policy about the state, and keeps what it would do second.
  void RankMoves() {
    moves_.clear();
    if (playing_->over()) return;
    const View view = game_.Observe(*playing_);
    const View* const views[] = {&view};
    const std::vector<float> scores = scorer_->Score(views)[0].scores;
    const std::vector<float> log_probabilities = learning::LogSoftmax(
        absl::MakeConstSpan(scores).first(learning::MovesThatGoOn(view)));
    for (size_t i = 0; i < log_probabilities.size(); ++i) {
      // Equal moves come in any order.
      moves_.push_back(
          {static_cast<double>(log_probabilities[i]) + 1e-6 * rng().Uniform(),
           view.moves[i]});
    }
    std::sort(moves_.begin(), moves_.end(), [](const Move& a, const Move& b) {
      return a.log_probability < b.log_probability;
    });
    const auto from = std::make_shared<const GameState>(*playing_);
    const double most = moves_.back().log_probability;
    const size_t count = std::min(kBranches, moves_.size() - 1);
    for (size_t i = 0; i < count; ++i) {
      const Move& other = moves_[moves_.size() - 2 - i];
      const double regret = regret_ + most - other.log_probability;
      departures_.push({regret - Gumbel(), regret, from, other.move});
    }
  }

  double Gumbel() {
    return -std::log(-std::log(std::clamp(rng().Uniform(), 1e-12, 1 - 1e-12)));
  }

  const Game game_;
  const std::unique_ptr<const Scorer> scorer_;
  int games_ = 0;
  std::priority_queue<Departure, std::vector<Departure>, Later> departures_;
  // By the key of each state, the game that came to it first.
  absl::flat_hash_map<Hash128, int> first_seen_;
  absl::flat_hash_set<Hash128> proposed_;
  double best_cost_ = 0;
  // The game being played, with the moves of its state that are left, the
  // likeliest last.
  std::optional<GameState> playing_;
  std::vector<Move> moves_;
  double regret_ = 0;
  bool is_new_ = false;
  bool goes_on_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> CreateGuided(
    const space::Problem& problem, const OptimizerOptions& options) {
  if (problem.assignment() != nullptr) {
    return MakeAssignmentSampling("guided", *problem.assignment(),
                                  {.polish = true, .shipped = true}, options);
  }
  const space::SequentialProblem& sequence = *problem.sequential();
  HONE_ASSIGN_OR_RETURN(auto prior, PriorOf(sequence, options));
  return std::make_unique<Guided>(sequence, std::move(prior), options);
}

}  // namespace hone::optimizers::policies
