#include "learning/networks/encoder.h"

#include <string>

#include "absl/strings/str_cat.h"

#include "learning/networks/matched_weights.h"

namespace hone::learning {
namespace {

using torch::nn::Embedding;
using torch::nn::Linear;

constexpr int64_t kPools = 3;

// Divides rows by their root mean square.
torch::Tensor Normalized(const torch::Tensor& rows) {
  // The square root has no derivative at 0.
  return rows * (rows.square().mean(1, /*keepdim=*/true) + 1e-6).rsqrt();
}

class NoWarnings final : public c10::WarningHandler {
 public:
  void process(const c10::SourceLocation&, const std::string&, bool) override {}
};

}  // namespace

torch::Tensor MaxOver(const torch::Tensor& rows, const torch::Tensor& index,
                      int64_t count) {
  // Torch warns that this function of its own may change, which is no news to
  // users.
  NoWarnings none;
  const c10::Warning::WarningHandlerGuard guard(&none);
  return torch::zeros({count, rows.size(1)})
      .scatter_reduce(0, index.unsqueeze(1).expand_as(rows), rows, "amax",
                      /*include_self=*/true);
}

torch::Tensor SumOver(const torch::Tensor& rows, const torch::Tensor& index,
                      int64_t count) {
  return torch::zeros({count, rows.size(1)}).index_add(0, index, rows);
}

NodeEncoderImpl::NodeEncoderImpl(const space::ObservationSpec& spec,
                                 const EncoderOptions& options)
    : options_(options) {
  const int64_t width = options.width;
  node_kinds_ =
      register_module("node_kinds", Embedding(spec.node_kinds, width));
  // One more than there are, as a layer without inputs is an error.
  node_features_ =
      register_module("node_features", Linear(spec.node_features + 1, width));
  for (int32_t i = 0; i < options.layers; ++i) {
    Layer layer;
    layer.producers =
        MakeDirection(absl::StrCat("producers", i), spec.edge_features);
    layer.consumers =
        MakeDirection(absl::StrCat("consumers", i), spec.edge_features);
    layer.merge =
        register_module(absl::StrCat("merge", i), Linear(3 * width, width));
    layers_.push_back(layer);
  }
  if (options.segment > 0) {
    attention_ =
        register_module("attention", SegmentAttention(width, options.segment));
  }
  torch::NoGradGuard no_grad;
  node_kinds_->weight.mul_(0.3);
}

NodeEncoderImpl::Direction NodeEncoderImpl::MakeDirection(
    const std::string& name, int32_t edge_features) {
  const int64_t width = options_.width;
  Direction direction;
  direction.message = register_module(name, Linear(width, width));
  if (edge_features > 0) {
    direction.edge =
        register_module(name + "_edge", Linear(edge_features, width));
  }
  if (options_.aggregator == Aggregator::kAttention) {
    direction.attention =
        register_module(name + "_attention", Linear(2 * width, 1));
  }
  return direction;
}

void NodeEncoderImpl::SelectNodes(const ObservationMatch& match,
                                  int64_t unknown_kind) {
  const torch::Tensor kinds = node_kinds_->weight.detach();
  node_kinds_->weight.set_data(SelectRows(
      kinds, match.node_kinds,
      unknown_kind == kUnknown ? kinds.mean(0) : kinds[unknown_kind]));
  SelectColumns(node_features_, 0, match.node_features, 1);
  for (Layer& layer : layers_) {
    for (Direction* direction : {&layer.producers, &layer.consumers}) {
      if (direction->edge.is_empty()) continue;
      SelectColumns(direction->edge, 0, match.edge_features, 0);
    }
  }
}

torch::Tensor NodeEncoderImpl::Aggregate(Direction& direction,
                                         const torch::Tensor& nodes,
                                         const torch::Tensor& from,
                                         const torch::Tensor& to,
                                         const torch::Tensor& degree,
                                         const torch::Tensor& edge_features) {
  const int64_t count = nodes.size(0);
  // The messages along the edges, [E, width].
  torch::Tensor messages;
  if (direction.edge.is_empty()) {
    messages =
        torch::relu(direction.message->forward(nodes)).index_select(0, from);
  } else {
    messages =
        torch::relu(direction.message->forward(nodes).index_select(0, from) +
                    direction.edge->forward(edge_features));
  }
  switch (options_.aggregator) {
    case Aggregator::kSum:
      return SumOver(messages, to, count);
    case Aggregator::kMax:
      return MaxOver(messages, to, count);
    case Aggregator::kAttention: {
      const torch::Tensor score =
          torch::leaky_relu(direction.attention->forward(torch::cat(
                                {messages, nodes.index_select(0, to)}, 1)),
                            0.2);
      // A softmax over the edges of each receiver. Scores are bounded to ±8, so
      // that the exponential is finite without a maximum for each receiver.
      const torch::Tensor weight = torch::exp(torch::tanh(score / 8) * 8);
      return SumOver(messages * weight, to, count) /
             (SumOver(weight, to, count) + 1e-6);
    }
    case Aggregator::kMean:
      break;
  }
  return SumOver(messages, to, count) / degree;
}

torch::Tensor NodeEncoderImpl::Nodes(const GraphBatch& batch) {
  const torch::Tensor bias =
      torch::ones({batch.node_features.size(0), 1}, torch::kFloat32);
  torch::Tensor nodes = torch::relu(
      node_kinds_->forward(batch.node_kinds) +
      node_features_->forward(torch::cat({batch.node_features, bias}, 1)));
  for (Layer& layer : layers_) {
    const torch::Tensor from_producers =
        Aggregate(layer.producers, nodes, batch.sources, batch.targets,
                  batch.in_degree, batch.edge_features);
    const torch::Tensor from_consumers =
        Aggregate(layer.consumers, nodes, batch.targets, batch.sources,
                  batch.out_degree, batch.edge_features);
    nodes = Normalized(torch::relu(layer.merge->forward(
        torch::cat({nodes, from_producers, from_consumers}, 1))));
  }
  if (!attention_.is_empty()) nodes = attention_->forward(nodes, batch);
  return nodes;
}

GraphEncoderImpl::GraphEncoderImpl(const space::ObservationSpec& spec,
                                   const EncoderOptions& options)
    : NodeEncoderImpl(spec, options) {
  graph_ = register_module(
      "graph",
      Linear(kPools * options.width + spec.global_features, options.width));
}

void GraphEncoderImpl::Select(const ObservationMatch& match) {
  SelectNodes(match, kUnknown);
  SelectColumns(graph_, kPools * options_.width, match.global_features, 0);
}

Encoding GraphEncoderImpl::forward(const GraphBatch& batch) {
  const torch::Tensor nodes = Nodes(batch);
  const int64_t graphs = batch.nodes_of_graph.size(0);
  const torch::Tensor positive = torch::relu(nodes);
  const torch::Tensor sum = SumOver(positive, batch.graph_of_node, graphs);
  return {nodes,
          torch::relu(graph_->forward(torch::cat(
              {sum / batch.nodes_of_graph.clamp_min(1), torch::log1p(sum),
               MaxOver(positive, batch.graph_of_node, graphs), batch.globals},
              1)))};
}

ConditioningImpl::ConditioningImpl(const EncoderOptions& options) {
  if (!options.conditioning) return;
  scale_ = register_module("scale", Linear(options.width, options.width));
  torch::NoGradGuard no_grad;
  scale_->weight.zero_();
  scale_->bias.zero_();
}

torch::Tensor ConditioningImpl::forward(const torch::Tensor& rows,
                                        const torch::Tensor& graphs) {
  if (scale_.is_empty()) return rows;
  torch::Tensor scale = scale_->forward(graphs);
  while (scale.dim() < rows.dim()) scale = scale.unsqueeze(1);
  return rows * (1 + scale);
}

}  // namespace hone::learning
