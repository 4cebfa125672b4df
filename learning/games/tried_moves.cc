#include "learning/games/tried_moves.h"

#include <algorithm>
#include <utility>

namespace hone::learning {
namespace {

// Of a node with its features and edges.
constexpr size_t kBytesPerNode = 100;

size_t BytesOf(const View& view) {
  return view.graph->node_kinds.size() * kBytesPerNode +
         view.features.size() * sizeof(float);
}

}  // namespace

size_t TriedMoves::Tried::IndexOf(int32_t move) const {
  const std::vector<int32_t>& all = labels.view->moves;
  return static_cast<size_t>(std::find(all.begin(), all.end() - 1, move) -
                             all.begin());
}

void TriedMoves::Tried::Show(const std::shared_ptr<const View>& view) {
  const size_t count = view->moves.size() - 1;
  Tried next{{.view = view,
              .tried = std::vector<bool>(count),
              .changes = std::vector<bool>(count),
              .rewards = std::vector<float>(count)}};
  if (labels.view != nullptr) {
    for (size_t i = 0; i < count; ++i) {
      const size_t before = IndexOf(view->moves[i]);
      if (before == labels.tried.size() || !labels.tried[before]) continue;
      next.labels.tried[i] = true;
      next.labels.changes[i] = labels.changes[before];
      next.labels.rewards[i] = labels.rewards[before];
      ++next.moves;
    }
  }
  *this = std::move(next);
}

void TriedMoves::Add(absl::Span<const Turn> turns) {
  for (const Turn& turn : turns) {
    const int32_t move = turn.view->moves[static_cast<size_t>(turn.chosen)];
    if (move == kStopMove) continue;
    if (bytes_ > max_bytes_) {
      index_.clear();
      states_.clear();
      bytes_ = 0;
    }
    const auto [it, is_new] =
        index_.try_emplace(turn.view->state, states_.size());
    if (is_new) {
      states_.emplace_back();
      bytes_ += BytesOf(*turn.view);
    }
    Tried& state = states_[it->second];
    // Views leave out what the episode has tried in vain since it came to the
    // state.
    if (is_new || turn.view->moves.size() > state.labels.view->moves.size()) {
      state.Show(turn.view);
    }
    const size_t i = state.IndexOf(move);
    if (i == state.labels.tried.size() || state.labels.tried[i]) continue;
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
