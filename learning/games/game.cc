#include "learning/games/game.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/status_macros.h"

namespace hone::learning {
namespace {

// Nodes of the observations kept; a node takes about a hundred bytes.
constexpr size_t kMaxNodes = 2'000'000;

float RelativeTo(double cost, double reference) {
  const double ratio = cost / std::max(std::abs(reference), 1e-9);
  // Infinite costs would reach the network.
  return static_cast<float>(std::isnan(ratio) ? 4 : std::clamp(ratio, 0., 4.));
}

}  // namespace

Game::Game(const space::SequentialProblem& problem, int32_t max_moves)
    : problem_(problem),
      spec_{problem.observation_spec(), problem.action_spec()},
      max_moves_(std::clamp(problem.max_steps(), 1, max_moves)),
      initial_cost_(CostOf(problem.InitialState())) {}

GameState Game::Start() const {
  GameState start{space::Episode(problem_, max_moves_)};
  start.cost = start.best_cost = initial_cost_;
  return start;
}

absl::StatusOr<GameState> Game::Play(const GameState& position,
                                     int32_t move) const {
  GameState next = position;
  HONE_ASSIGN_OR_RETURN(
      const space::EpisodeStep step,
      next.episode.Step(move == kStopMove ? next.episode.stop_action() : move));
  next.moves.push_back(move);
  next.reward = step.reward;
  if (move == kStopMove) return next;
  if (!step.changed) {
    ++next.no_ops;
    return next;
  }
  next.no_ops = 0;
  next.choices.push_back(move);
  next.cost = CostOf(next.episode.state());
  if (!problem_.costs_are_free() || next.cost < next.best_cost) {
    next.best_cost = next.cost;
    next.best_length = next.choices.size();
    next.best_moves = next.moves.size();
  }
  return next;
}

View Game::Observe(const GameState& position) const {
  const space::StatePtr& state = position.episode.state();
  View view;
  if (nodes_ > kMaxNodes) {
    graphs_.clear();
    nodes_ = 0;
  }
  std::shared_ptr<const space::Observation>& graph = graphs_[state->key()];
  if (graph == nullptr) {
    graph = std::make_shared<const space::Observation>(problem_.Observe(state));
    nodes_ += graph->node_kinds.size();
  }
  view.graph = graph;
  view.state = state->key();
  view.game_features = {static_cast<float>(position.episode.remaining_steps()) /
                            static_cast<float>(max_moves_),
                        RelativeTo(position.cost, initial_cost_),
                        RelativeTo(position.best_cost, initial_cost_)};
  for (const int32_t action : problem_.LegalActions(state)) {
    if (!position.episode.IsNoOp(action)) view.moves.push_back(action);
  }
  const space::ActionBatch actions = problem_.Describe(state, view.moves);
  view.kinds = actions.kinds;
  view.focus = actions.focus;
  view.moves.push_back(kStopMove);
  view.kinds.push_back(spec_.move_kinds() - 1);
  view.focus.push_back(-1);
  const size_t described = spec_.actions.feature_names.size();
  view.features.reserve(view.moves.size() * (described + kMoveFeatures));
  for (size_t i = 0; i < view.moves.size(); ++i) {
    for (size_t f = 0; f < described; ++f) {
      view.features.push_back(
          i + 1 < view.moves.size() ? actions.features[i * described + f] : 0);
    }
    const int32_t move = view.moves[i];
    const auto times =
        std::count(position.moves.begin(), position.moves.end(), move);
    const auto effective =
        std::count(position.choices.begin(), position.choices.end(), move);
    const bool is_last =
        !position.choices.empty() && position.choices.back() == move;
    view.features.insert(
        view.features.end(),
        {std::log2(1.0F + static_cast<float>(times)) / 3, is_last ? 1.0F : 0.0F,
         std::log2(1.0F + static_cast<float>(effective)) / 3,
         static_cast<float>(position.no_ops) / 16});
  }
  return view;
}

space::Candidate Game::Proposal(const GameState& position) const {
  return {{position.choices.begin(),
           position.choices.begin() +
               static_cast<std::ptrdiff_t>(position.best_length)}};
}

double Game::CostOf(const space::StatePtr& state) const {
  return problem_.costs_are_free() ? problem_.Cost(state) : 1;
}

}  // namespace hone::learning
