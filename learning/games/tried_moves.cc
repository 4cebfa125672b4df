#include "learning/games/tried_moves.h"

#include <algorithm>

namespace hone::learning {

void TriedMoves::Add(absl::Span<const Turn> turns) {
  for (const Turn& turn : turns) {
    const int32_t move = turn.view->moves[static_cast<size_t>(turn.chosen)];
    if (move == kStopMove) continue;
    const auto [it, is_new] =
        index_.try_emplace(turn.view->graph.get(), states_.size());
    if (is_new) {
      const size_t moves = turn.view->moves.size() - 1;
      states_.push_back({{.view = turn.view,
                          .tried = std::vector<bool>(moves),
                          .changes = std::vector<bool>(moves),
                          .rewards = std::vector<float>(moves)}});
    }
    Tried& state = states_[it->second];
    // An episode's views leave out what it has tried in vain, so that the first
    // one has all moves.
    const std::vector<int32_t>& moves = state.labels.view->moves;
    const auto at = std::find(moves.begin(), moves.end() - 1, move);
    if (at == moves.end() - 1) continue;
    const auto i = static_cast<size_t>(at - moves.begin());
    if (state.labels.tried[i]) continue;
    state.labels.tried[i] = true;
    state.labels.changes[i] = turn.changed;
    state.labels.rewards[i] = turn.reward;
    ++state.moves;
  }
}

std::vector<MoveLabels> TriedMoves::Draw(size_t count, Rng& rng) const {
  std::vector<size_t> drawn;
  for (size_t i = 0; i < states_.size(); ++i) {
    if (states_[i].moves > 1) drawn.push_back(i);
  }
  std::shuffle(drawn.begin(), drawn.end(), rng);
  drawn.resize(std::min(drawn.size(), count));
  std::vector<MoveLabels> labels;
  for (const size_t i : drawn) labels.push_back(states_[i].labels);
  return labels;
}

}  // namespace hone::learning
