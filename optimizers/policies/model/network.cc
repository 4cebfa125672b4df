#include "optimizers/policies/model/network.h"

#include <algorithm>
#include <limits>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

namespace hone::optimizers::policies {
namespace {

constexpr int64_t kWidth = 64;
constexpr int kLayers = 3;

template <typename T>
torch::Tensor ToTensor(const std::vector<T>& values, torch::IntArrayRef shape,
                       torch::ScalarType from, torch::ScalarType to) {
  if (values.empty()) return torch::zeros(shape, to);
  // from_blob needs a pointer to mutable data but does not write; the copy that
  // `to` or `clone` makes outlives `values`.
  torch::Tensor view =
      torch::from_blob(const_cast<T*>(values.data()), shape, from);
  return from == to ? view.clone() : view.to(to);
}

torch::Tensor Ids(const std::vector<int32_t>& values,
                  torch::IntArrayRef shape) {
  return ToTensor(values, shape, torch::kInt32, torch::kInt64);
}

torch::Tensor Numbers(const std::vector<float>& values,
                      torch::IntArrayRef shape) {
  return ToTensor(values, shape, torch::kFloat32, torch::kFloat32);
}

// The rows of `rows` at `indices`; `unknown` for kUnknown.
torch::Tensor SelectRows(const torch::Tensor& rows,
                         std::vector<int64_t> indices,
                         const torch::Tensor& unknown) {
  std::replace(indices.begin(), indices.end(), kUnknown, rows.size(0));
  return torch::cat({rows, unknown.unsqueeze(0)})
      .index_select(0, torch::tensor(indices, torch::kInt64));
}

// The mean over edges of what lies at their one end, at their other end.
torch::Tensor MeanOver(const torch::Tensor& nodes, const torch::Tensor& from,
                       const torch::Tensor& to, const torch::Tensor& degree) {
  return torch::zeros_like(nodes).index_add(0, to,
                                            nodes.index_select(0, from)) /
         degree;
}

}  // namespace

GraphBatch MakeGraphBatch(absl::Span<const space::Observation* const> graphs,
                          const GameSpec& spec) {
  std::vector<int32_t> kinds, graph_of_node, sources, targets;
  std::vector<float> features, globals, sizes;
  for (size_t g = 0; g < graphs.size(); ++g) {
    const space::Observation& graph = *graphs[g];
    const auto base = static_cast<int32_t>(kinds.size());
    kinds.insert(kinds.end(), graph.node_kinds.begin(), graph.node_kinds.end());
    features.insert(features.end(), graph.node_features.begin(),
                    graph.node_features.end());
    globals.insert(globals.end(), graph.global_features.begin(),
                   graph.global_features.end());
    graph_of_node.resize(kinds.size(), static_cast<int32_t>(g));
    sizes.push_back(static_cast<float>(graph.node_kinds.size()));
    for (size_t e = 0; e < graph.edge_sources.size(); ++e) {
      sources.push_back(base + graph.edge_sources[e]);
      targets.push_back(base + graph.edge_targets[e]);
    }
  }
  std::vector<float> in_degree(kinds.size()), out_degree(kinds.size());
  for (size_t e = 0; e < sources.size(); ++e) {
    ++out_degree[static_cast<size_t>(sources[e])];
    ++in_degree[static_cast<size_t>(targets[e])];
  }
  for (float& degree : in_degree) degree = std::max(degree, 1.0F);
  for (float& degree : out_degree) degree = std::max(degree, 1.0F);

  const auto nodes = static_cast<int64_t>(kinds.size());
  const auto edges = static_cast<int64_t>(sources.size());
  const auto count = static_cast<int64_t>(graphs.size());
  GraphBatch batch;
  batch.node_kinds = Ids(kinds, {nodes});
  batch.node_features =
      Numbers(features, {nodes, spec.observation.node_features});
  batch.graph_of_node = Ids(graph_of_node, {nodes});
  batch.nodes_of_graph = Numbers(sizes, {count, 1});
  batch.sources = Ids(sources, {edges});
  batch.targets = Ids(targets, {edges});
  batch.in_degree = Numbers(in_degree, {nodes, 1});
  batch.out_degree = Numbers(out_degree, {nodes, 1});
  batch.globals = Numbers(globals, {count, spec.observation.global_features});
  return batch;
}

ViewBatch MakeViewBatch(absl::Span<const View* const> views,
                        absl::Span<const int32_t> graph_of_view,
                        absl::Span<const int32_t> first_node) {
  size_t most_moves = 0;
  for (const View* view : views) {
    most_moves = std::max(most_moves, view->moves.size());
  }
  const auto count = static_cast<int64_t>(views.size());
  const auto moves = static_cast<int64_t>(most_moves);
  std::vector<int32_t> focus, move_kinds(views.size() * most_moves);
  std::vector<float> has_focus, game_features,
      move_features(views.size() * most_moves * kMoveFeatures);
  torch::Tensor no_move = torch::ones({count, moves}, torch::kBool);
  for (size_t b = 0; b < views.size(); ++b) {
    const View& view = *views[b];
    focus.push_back(first_node[static_cast<size_t>(graph_of_view[b])] +
                    std::max(view.focus, 0));
    has_focus.push_back(view.focus >= 0 ? 1.0F : 0.0F);
    game_features.insert(game_features.end(), view.game_features.begin(),
                         view.game_features.end());
    const auto row = static_cast<std::ptrdiff_t>(b * most_moves);
    std::copy(view.move_kinds.begin(), view.move_kinds.end(),
              move_kinds.begin() + row);
    std::copy(view.move_features.begin(), view.move_features.end(),
              move_features.begin() + row * kMoveFeatures);
    no_move[static_cast<int64_t>(b)]
        .narrow(0, 0, static_cast<int64_t>(view.moves.size()))
        .fill_(false);
  }
  ViewBatch batch;
  batch.graph_of_view =
      Ids({graph_of_view.begin(), graph_of_view.end()}, {count});
  batch.focus = Ids(focus, {count});
  batch.has_focus = Numbers(has_focus, {count, 1});
  batch.game_features = Numbers(game_features, {count, kGameFeatures});
  batch.move_kinds = Ids(move_kinds, {count, moves});
  batch.move_features = Numbers(move_features, {count, moves, kMoveFeatures});
  batch.no_move = no_move;
  return batch;
}

Batch MakeBatch(absl::Span<const View* const> views, const GameSpec& spec) {
  std::vector<const space::Observation*> graphs;
  absl::flat_hash_map<const space::Observation*, int32_t> graph_indices;
  std::vector<int32_t> graph_of_view, first_node;
  int32_t nodes = 0;
  for (const View* view : views) {
    const auto [it, is_new] = graph_indices.try_emplace(
        view->graph.get(), static_cast<int32_t>(graphs.size()));
    graph_of_view.push_back(it->second);
    if (!is_new) continue;
    graphs.push_back(view->graph.get());
    first_node.push_back(nodes);
    nodes += static_cast<int32_t>(view->graph->node_kinds.size());
  }
  return {MakeGraphBatch(graphs, spec),
          MakeViewBatch(views, graph_of_view, first_node)};
}

NetworkImpl::NetworkImpl(const GameSpec& spec) : spec_(spec) {
  using torch::nn::Embedding;
  using torch::nn::LayerNorm;
  using torch::nn::LayerNormOptions;
  using torch::nn::Linear;
  const space::ObservationSpec& observation = spec.observation;
  node_kinds_ =
      register_module("node_kinds", Embedding(observation.node_kinds, kWidth));
  // One more than there are, as a layer without inputs is an error.
  node_features_ = register_module(
      "node_features", Linear(observation.node_features + 1, kWidth));
  for (int i = 0; i < kLayers; ++i) {
    Layer layer;
    layer.self =
        register_module(absl::StrCat("self", i), Linear(kWidth, kWidth));
    layer.producers =
        register_module(absl::StrCat("producers", i), Linear(kWidth, kWidth));
    layer.consumers =
        register_module(absl::StrCat("consumers", i), Linear(kWidth, kWidth));
    layer.norm = register_module(absl::StrCat("norm", i),
                                 LayerNorm(LayerNormOptions({kWidth})));
    layers_.push_back(layer);
  }
  graph_ = register_module(
      "graph", Linear(2 * kWidth + observation.global_features, kWidth));
  position_ =
      register_module("position", Linear(2 * kWidth + kGameFeatures, kWidth));
  move_kinds_ =
      register_module("move_kinds", Embedding(spec.move_kinds, kWidth));
  move_features_ =
      register_module("move_features", Linear(kMoveFeatures, kWidth));
  move_position_ = register_module("move_position", Linear(kWidth, kWidth));
  score_ = register_module("score", Linear(kWidth, 1));
  value_hidden_ = register_module("value_hidden", Linear(kWidth, kWidth));
  value_ = register_module("value", Linear(kWidth, 1));
  torch::NoGradGuard no_grad;
  node_kinds_->weight.mul_(0.3);
  move_kinds_->weight.mul_(0.3);
  score_->weight.zero_();
  score_->bias.zero_();
  value_->weight.zero_();
  value_->bias.zero_();
}

void NetworkImpl::LoadMatched(torch::serialize::InputArchive& archive,
                              const SpecMatch& match) {
  std::vector<std::vector<int64_t>> shapes;
  for (const torch::Tensor& parameter : parameters()) {
    shapes.push_back(parameter.sizes().vec());
  }
  // Gives parameters the shapes that they have in the archive.
  load(archive);
  torch::NoGradGuard no_grad;
  const torch::Tensor moves = move_kinds_->weight.detach();
  // The last move is to stop, unlike any action.
  move_kinds_->weight.set_data(SelectRows(
      moves, match.move_kinds, moves.narrow(0, 0, moves.size(0) - 1).mean(0)));
  const torch::Tensor nodes = node_kinds_->weight.detach();
  node_kinds_->weight.set_data(
      SelectRows(nodes, match.node_kinds, nodes.mean(0)));
  // Columns: the mean and spread of the nodes, then the global features.
  const torch::Tensor graph = graph_->weight.detach();
  const torch::Tensor globals =
      graph.narrow(1, 2 * kWidth, graph.size(1) - 2 * kWidth).t();
  graph_->weight.set_data(torch::cat(
      {graph.narrow(1, 0, 2 * kWidth),
       SelectRows(globals, match.global_features, torch::zeros({graph.size(0)}))
           .t()},
      1));
  const std::vector<torch::Tensor> loaded = parameters();
  for (size_t i = 0; i < loaded.size(); ++i) {
    TORCH_CHECK(loaded[i].sizes() == torch::IntArrayRef(shapes[i]),
                "a parameter of another shape");
  }
}

torch::Tensor NetworkImpl::EncodeNodes(const GraphBatch& batch) {
  const torch::Tensor bias =
      torch::ones({batch.node_features.size(0), 1}, torch::kFloat32);
  torch::Tensor nodes = torch::relu(
      node_kinds_->forward(batch.node_kinds) +
      node_features_->forward(torch::cat({batch.node_features, bias}, 1)));
  for (Layer& layer : layers_) {
    const torch::Tensor from_producers =
        MeanOver(nodes, batch.sources, batch.targets, batch.in_degree);
    const torch::Tensor from_consumers =
        MeanOver(nodes, batch.targets, batch.sources, batch.out_degree);
    nodes = nodes + torch::relu(layer.norm->forward(
                        layer.self->forward(nodes) +
                        layer.producers->forward(from_producers) +
                        layer.consumers->forward(from_consumers)));
  }
  return nodes;
}

Encoding NetworkImpl::Encode(const GraphBatch& batch) {
  const torch::Tensor nodes = EncodeNodes(batch);
  const int64_t graphs = batch.nodes_of_graph.size(0);
  const auto mean_of = [&](const torch::Tensor& values) {
    return torch::zeros({graphs, kWidth})
               .index_add(0, batch.graph_of_node, values) /
           batch.nodes_of_graph;
  };
  const torch::Tensor mean = mean_of(nodes);
  // The square root has no derivative at 0.
  const torch::Tensor spread = (mean_of(nodes.square()) + 1e-6).sqrt();
  return {nodes, torch::relu(graph_->forward(
                     torch::cat({mean, spread, batch.globals}, 1)))};
}

NetworkOutput NetworkImpl::Decide(const ViewBatch& batch,
                                  const Encoding& encoding) {
  const torch::Tensor position = torch::relu(position_->forward(
      torch::cat({encoding.graphs.index_select(0, batch.graph_of_view),
                  encoding.nodes.index_select(0, batch.focus) * batch.has_focus,
                  batch.game_features},
                 1)));
  const torch::Tensor moves =
      torch::relu(move_kinds_->forward(batch.move_kinds) +
                  move_features_->forward(batch.move_features) +
                  move_position_->forward(position).unsqueeze(1));
  const torch::Tensor scores = score_->forward(moves).squeeze(2).masked_fill(
      batch.no_move, -std::numeric_limits<float>::infinity());
  const torch::Tensor values =
      value_->forward(torch::relu(value_hidden_->forward(position))).squeeze(1);
  return {scores, values};
}

NetworkOutput NetworkImpl::forward(const Batch& batch) {
  return Decide(batch.views, Encode(batch.graphs));
}

std::vector<MoveScores> ReadScores(const NetworkOutput& output,
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

}  // namespace hone::optimizers::policies
