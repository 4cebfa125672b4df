#include "learning/networks/move_network.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_map.h"

#include "learning/networks/matched_weights.h"
#include "learning/networks/tensors.h"

namespace hone::learning {
namespace {

using torch::nn::Embedding;
using torch::nn::Linear;

// The last kind of move is to stop, unlike any action.
torch::Tensor SelectKinds(const torch::Tensor& kinds,
                          const std::vector<int64_t>& indices) {
  const int64_t actions = kinds.size(0) - 1;
  return SelectRows(kinds, indices,
                    actions > 0 ? kinds.narrow(0, 0, actions).mean(0)
                                : torch::zeros({kinds.size(1)}));
}

}  // namespace

ViewBatch MakeViewBatch(absl::Span<const View* const> views,
                        absl::Span<const int32_t> graph_of_view,
                        absl::Span<const int64_t> first_node,
                        const GameSpec& spec) {
  size_t most = 0;
  for (const View* view : views) most = std::max(most, view->moves.size());
  const auto count = static_cast<int64_t>(views.size());
  const auto moves = static_cast<int64_t>(most);
  const auto features = static_cast<size_t>(spec.move_features());
  const auto none =
      static_cast<int32_t>(first_node.empty() ? 0 : first_node.back());
  std::vector<int32_t> kinds(views.size() * most);
  std::vector<int32_t> focus(views.size() * most, none);
  std::vector<float> game_features,
      move_features(views.size() * most * features);
  torch::Tensor has_move = torch::zeros({count, moves}, torch::kBool);
  for (size_t b = 0; b < views.size(); ++b) {
    const View& view = *views[b];
    game_features.insert(game_features.end(), view.game_features.begin(),
                         view.game_features.end());
    const size_t row = b * most;
    std::copy(view.kinds.begin(), view.kinds.end(),
              kinds.begin() + static_cast<std::ptrdiff_t>(row));
    for (size_t m = 0; m < view.focus.size() && !first_node.empty(); ++m) {
      if (view.focus[m] < 0) continue;
      focus[row + m] = static_cast<int32_t>(
                           first_node[static_cast<size_t>(graph_of_view[b])]) +
                       view.focus[m];
    }
    std::copy(
        view.features.begin(), view.features.end(),
        move_features.begin() + static_cast<std::ptrdiff_t>(row * features));
    has_move[static_cast<int64_t>(b)]
        .narrow(0, 0, static_cast<int64_t>(view.moves.size()))
        .fill_(true);
  }
  ViewBatch batch;
  batch.graph_of_view =
      Ids({graph_of_view.begin(), graph_of_view.end()}, {count});
  batch.game_features = Numbers(game_features, {count, kGameFeatures});
  batch.kinds = Ids(kinds, {count, moves});
  batch.focus = Ids(focus, {count, moves});
  batch.features = Numbers(move_features, {count, moves, spec.move_features()});
  batch.has_move = has_move;
  return batch;
}

Batch MakeBatch(absl::Span<const View* const> views, const GameSpec& spec) {
  std::vector<const space::Observation*> graphs;
  absl::flat_hash_map<const space::Observation*, int32_t> graph_indices;
  std::vector<int32_t> graph_of_view;
  for (const View* view : views) {
    const auto [it, is_new] = graph_indices.try_emplace(
        view->graph.get(), static_cast<int32_t>(graphs.size()));
    graph_of_view.push_back(it->second);
    if (is_new) graphs.push_back(view->graph.get());
  }
  Batch batch;
  batch.graphs = MakeGraphBatch(graphs, spec.observation);
  batch.views =
      MakeViewBatch(views, graph_of_view, batch.graphs.first_nodes, spec);
  return batch;
}

MoveNetworkImpl::MoveNetworkImpl(const GameSpec& spec,
                                 const EncoderOptions& options) {
  const int64_t width = options.width;
  encoder_ =
      register_module("encoder", GraphEncoder(spec.observation, options));
  position_ = register_module("position", Linear(width + kGameFeatures, width));
  kinds_ = register_module("kinds", Embedding(spec.move_kinds(), width));
  features_ = register_module("features", Linear(spec.move_features(), width));
  focus_ = register_module("focus", Linear(width, width));
  move_position_ = register_module("move_position", Linear(width, width));
  conditioning_ = register_module("conditioning", Conditioning(options));
  hidden_ = register_module("hidden", Linear(width, width));
  score_ = register_module("score", Linear(width, 1));
  effects_ = register_module("effects", Linear(width, 2));
  value_hidden_ = register_module("value_hidden", Linear(width, width));
  value_ = register_module("value", Linear(width, 1));
  torch::NoGradGuard no_grad;
  kinds_->weight.mul_(0.3);
  for (const Linear& layer : {score_, effects_, value_}) {
    layer->weight.zero_();
    layer->bias.zero_();
  }
}

void MoveNetworkImpl::Select(const SpecMatch& match) {
  encoder_->Select(match);
  kinds_->weight.set_data(
      SelectKinds(kinds_->weight.detach(), match.move_kinds));
  SelectColumns(features_, 0, match.move_features, kMoveFeatures);
}

MoveOutput MoveNetworkImpl::Decide(const ViewBatch& batch,
                                   const Encoding& encoding) {
  const torch::Tensor graphs =
      encoding.graphs.index_select(0, batch.graph_of_view);
  const torch::Tensor position = torch::relu(
      position_->forward(torch::cat({graphs, batch.game_features}, 1)));
  const int64_t width = position.size(1);
  // A node of zeros stands for no focus.
  const torch::Tensor focus =
      torch::cat({focus_->forward(encoding.nodes), torch::zeros({1, width})})
          .index_select(0, batch.focus.reshape({-1}))
          .view({batch.focus.size(0), batch.focus.size(1), width});
  const torch::Tensor moves = torch::relu(
      kinds_->forward(batch.kinds) + features_->forward(batch.features) +
      focus + move_position_->forward(position).unsqueeze(1));
  const torch::Tensor hidden =
      torch::relu(hidden_->forward(conditioning_->forward(moves, graphs)));
  const torch::Tensor scores = score_->forward(hidden).squeeze(2).masked_fill(
      batch.has_move.logical_not(), -std::numeric_limits<float>::infinity());
  const torch::Tensor values =
      value_->forward(torch::relu(value_hidden_->forward(position))).squeeze(1);
  return {scores, values, effects_->forward(hidden)};
}

MoveOutput MoveNetworkImpl::forward(const Batch& batch) {
  return Decide(batch.views, Encode(batch.graphs));
}

std::vector<MoveScores> ReadScores(const MoveOutput& output,
                                   absl::Span<const View* const> views) {
  const auto values = output.values.accessor<float, 1>();
  const auto scores = output.scores.accessor<float, 2>();
  std::vector<MoveScores> result(views.size());
  for (size_t b = 0; b < views.size(); ++b) {
    const auto row = scores[static_cast<int64_t>(b)];
    for (size_t m = 0; m < views[b]->moves.size(); ++m) {
      result[b].scores.push_back(row[static_cast<int64_t>(m)]);
    }
    result[b].value = values[static_cast<int64_t>(b)];
  }
  return result;
}

}  // namespace hone::learning
