#include "optimizers/policies/game/game.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "absl/container/flat_hash_map.h"

#include "base/status_macros.h"

namespace hone::optimizers::policies {
namespace {

// Moves of a sequential game at most: several times what a default order takes,
// and short enough that a rollout is quick.
constexpr int32_t kMaxMoves = 64;
// Nodes of the observations kept; a node takes about a hundred bytes.
constexpr size_t kMaxNodes = 2'000'000;
// Every move costs a little, so that of two ways to one result the shorter one
// is the better.
constexpr double kMoveCost = 2e-4;
// Values of a variable that a policy tells apart.
constexpr int32_t kMaxValues = 64;
// Variables likewise; further ones share.
constexpr int32_t kMaxVariables = 256;

double RelativeTo(double cost, double reference) {
  return cost / std::max(std::abs(reference), 1e-9);
}

// Moves are the problem's actions and, as the last one, stopping.
class SequentialGame final : public Game {
 public:
  explicit SequentialGame(const space::SequentialProblem& problem)
      : Game(problem),
        sequence_(problem),
        stop_(problem.action_count()),
        max_moves_(std::min(problem.max_steps(), kMaxMoves)),
        initial_cost_(CostOf(problem.InitialState())) {}

  GameSpec spec() const override {
    GameSpec spec{.observation = sequence_.observation_spec(),
                  .move_kinds = stop_ + 1};
    for (int32_t action = 0; action < stop_; ++action) {
      spec.action_names.push_back(sequence_.ActionName(action));
    }
    return spec;
  }

  GameState Start() const override {
    GameState start;
    start.state = sequence_.InitialState();
    start.cost = start.best_cost = initial_cost_;
    start.over = max_moves_ == 0;
    return start;
  }

  absl::StatusOr<GameState> Play(const GameState& position,
                                 int32_t move) const override {
    GameState next = position;
    next.moves.push_back(move);
    next.reward = 0;
    next.over = static_cast<int32_t>(next.moves.size()) >= max_moves_;
    if (move == stop_) {
      next.over = true;
      return next;
    }
    next.reward = -kMoveCost;
    absl::StatusOr<space::StatePtr> state =
        sequence_.Step(position.state, move);
    if (absl::IsUnavailable(state.status()) ||
        absl::IsCancelled(state.status())) {
      return state.status();
    }
    // An action that fails changes nothing, like any other no-op.
    if (state.ok()) next.state = *std::move(state);
    if (next.state->key() == position.state->key()) {
      next.no_op_moves.push_back(move);
      return next;
    }
    next.no_op_moves.clear();
    next.choices.push_back(move);
    next.cost = CostOf(next.state);
    if (!sequence_.costs_are_free()) {
      next.best_length = next.choices.size();
    } else if (next.cost < next.best_cost) {
      next.reward += RelativeTo(next.best_cost - next.cost, initial_cost_);
      next.best_cost = next.cost;
      next.best_length = next.choices.size();
    }
    return next;
  }

  View Observe(const GameState& position) const override {
    View view;
    if (nodes_ > kMaxNodes) {
      graphs_.clear();
      nodes_ = 0;
    }
    std::shared_ptr<const space::Observation>& graph =
        graphs_[position.state->key()];
    if (graph == nullptr) {
      graph = std::make_shared<const space::Observation>(
          sequence_.Observe(position.state));
      nodes_ += graph->node_kinds.size();
    }
    view.graph = graph;
    view.game_features = {
        1.0F - static_cast<float>(position.moves.size()) /
                   static_cast<float>(max_moves_),
        static_cast<float>(RelativeTo(position.cost, initial_cost_)),
        static_cast<float>(RelativeTo(position.best_cost, initial_cost_))};
    for (int32_t action : sequence_.LegalActions(position.state)) {
      if (std::find(position.no_op_moves.begin(), position.no_op_moves.end(),
                    action) == position.no_op_moves.end()) {
        view.moves.push_back(action);
      }
    }
    view.moves.push_back(stop_);
    view.last_stops = true;
    view.move_kinds = view.moves;
    for (int32_t move : view.moves) {
      const auto times =
          std::count(position.moves.begin(), position.moves.end(), move);
      const auto effective =
          std::count(position.choices.begin(), position.choices.end(), move);
      const bool is_last =
          !position.choices.empty() && position.choices.back() == move;
      view.move_features.insert(
          view.move_features.end(),
          {std::log2(1.0F + static_cast<float>(times)) / 3,
           is_last ? 1.0F : 0.0F,
           std::log2(1.0F + static_cast<float>(effective)) / 3,
           static_cast<float>(position.no_op_moves.size()) / 16});
    }
    return view;
  }

  space::Candidate Proposal(const GameState& position) const override {
    return {{position.choices.begin(),
             position.choices.begin() +
                 static_cast<std::ptrdiff_t>(position.best_length)}};
  }

  double FinalReward(double, double) const override { return 0; }

 private:
  double CostOf(const space::StatePtr& state) const {
    return sequence_.costs_are_free() ? sequence_.Cost(state) : 1;
  }

  const space::SequentialProblem& sequence_;
  const int32_t stop_;
  const int32_t max_moves_;
  const double initial_cost_;
  // The observation of each state.
  mutable absl::flat_hash_map<Hash128,
                              std::shared_ptr<const space::Observation>>
      graphs_;
  mutable size_t nodes_ = 0;  // of graphs_
};

// A move gives the next variable its value.
class AssignmentGame final : public Game {
 public:
  explicit AssignmentGame(const space::AssignmentProblem& problem)
      : Game(problem),
        assignment_(problem),
        neighbors_(static_cast<size_t>(problem.variable_count())),
        domains_(problem.MakeDomains()) {
    // Where each variable has a node of its own, in order.
    const std::shared_ptr<const space::Observation> graph = problem.Graph();
    if (graph->node_kinds.size() != neighbors_.size()) return;
    for (size_t e = 0; e < graph->edge_sources.size(); ++e) {
      const int32_t a = graph->edge_sources[e];
      const int32_t b = graph->edge_targets[e];
      neighbors_[static_cast<size_t>(a)].push_back(b);
      neighbors_[static_cast<size_t>(b)].push_back(a);
    }
  }

  GameSpec spec() const override {
    return {{.node_kinds = kMaxVariables, .node_features = 3}, kMaxValues};
  }

  GameState Start() const override {
    GameState start;
    start.over = assignment_.variable_count() == 0;
    return start;
  }

  absl::StatusOr<GameState> Play(const GameState& position,
                                 int32_t move) const override {
    GameState next = position;
    next.moves.push_back(move);
    next.choices.push_back(move);
    next.best_length = next.choices.size();
    next.over = static_cast<int32_t>(next.choices.size()) ==
                    assignment_.variable_count() ||
                LegalValues(next).empty();
    return next;
  }

  View Observe(const GameState& position) const override {
    View view;
    const auto count = static_cast<size_t>(assignment_.variable_count());
    const size_t current = position.choices.size();
    space::Observation graph;
    for (size_t v = 0; v < count; ++v) {
      graph.node_kinds.push_back(static_cast<int32_t>(v) % kMaxVariables);
      graph.node_features.insert(
          graph.node_features.end(),
          {v < current ? 1.0F : 0.0F, v == current ? 1.0F : 0.0F,
           v < current ? (1.0F + static_cast<float>(position.choices[v])) / 8
                       : 0.0F});
    }
    const std::shared_ptr<const space::Observation> given = assignment_.Graph();
    if (given->node_kinds.size() == count) {
      graph.edge_sources = given->edge_sources;
      graph.edge_targets = given->edge_targets;
    }
    view.graph = std::make_shared<const space::Observation>(std::move(graph));
    view.focus = static_cast<int32_t>(current);
    view.game_features = {
        1.0F - static_cast<float>(current) / static_cast<float>(count), 0, 0};
    view.moves = LegalValues(position);
    for (int32_t value : view.moves) {
      view.move_kinds.push_back(value % kMaxValues);
      const auto times =
          std::count(position.choices.begin(), position.choices.end(), value);
      const bool is_last =
          !position.choices.empty() && position.choices.back() == value;
      int32_t agreeing = 0;
      for (int32_t neighbor : neighbors_[current]) {
        const auto n = static_cast<size_t>(neighbor);
        if (n < current && position.choices[n] == value) ++agreeing;
      }
      view.move_features.insert(
          view.move_features.end(),
          {static_cast<float>(times) / static_cast<float>(count),
           is_last ? 1.0F : 0.0F, static_cast<float>(agreeing) / 4,
           static_cast<float>(neighbors_[current].size()) / 8});
    }
    return view;
  }

  space::Candidate Proposal(const GameState& position) const override {
    space::Candidate proposal{position.choices};
    // A dead end is completed somehow and turns out to be infeasible.
    proposal.choices.resize(static_cast<size_t>(assignment_.variable_count()));
    return proposal;
  }

  double FinalReward(double cost, double default_cost) const override {
    if (!std::isfinite(cost)) return -1;
    if (!std::isfinite(default_cost)) return 1;
    return std::clamp(RelativeTo(default_cost - cost, default_cost), -1.0, 1.0);
  }

 private:
  std::vector<int32_t> LegalValues(const GameState& position) const {
    std::vector<int32_t> values;
    const int32_t mark = domains_->Mark();
    bool possible = true;
    int32_t variable = 0;
    for (const int32_t value : position.choices) {
      possible = possible && domains_->Narrow(variable++, uint64_t{1} << value);
    }
    for (uint64_t left = possible ? domains_->Get(variable) : 0; left != 0;
         left &= left - 1) {
      values.push_back(std::countr_zero(left));
    }
    domains_->Undo(mark);
    return values;
  }

  const space::AssignmentProblem& assignment_;
  std::vector<std::vector<int32_t>> neighbors_;
  const std::unique_ptr<space::Domains> domains_;
};

}  // namespace

std::unique_ptr<Game> Game::Make(const space::Problem& problem) {
  if (problem.sequential() != nullptr) {
    return std::make_unique<SequentialGame>(*problem.sequential());
  }
  return std::make_unique<AssignmentGame>(*problem.assignment());
}

}  // namespace hone::optimizers::policies
