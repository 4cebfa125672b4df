#include "learning/networks/cost_network.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "learning/networks/matched_weights.h"
#include "learning/networks/tensors.h"

namespace hone::learning {
namespace {

using torch::nn::Linear;

EncoderOptions EncoderOptionsOf(const CostOptions& options) {
  EncoderOptions encoder = {.width = options.width, .layers = options.layers};
  switch (options.aggregator) {
    case CostAggregator::kMean:
      encoder.aggregator = Aggregator::kMean;
      break;
    case CostAggregator::kSum:
      encoder.aggregator = Aggregator::kSum;
      break;
    case CostAggregator::kMax:
      encoder.aggregator = Aggregator::kMax;
      break;
  }
  if (options.encoder == CostEncoder::kAttention) {
    encoder.aggregator = Aggregator::kAttention;
  }
  // The LSTM starts from what the nodes are by themselves.
  if (options.encoder == CostEncoder::kSequence) encoder.layers = 0;
  return encoder;
}

// What the encoder sees of nodes.
space::ObservationSpec EncoderSpec(const CostSpec& spec,
                                   const CostOptions& options) {
  space::ObservationSpec seen = spec.graph;
  if (options.join == CostJoin::kEarly) {
    seen.node_features += static_cast<int32_t>(spec.config_names.size());
  }
  return seen;
}

torch::Tensor Standardized(const torch::Tensor& rows,
                           const CostNetworkImpl::Standard& standard) {
  return ((rows - standard.mean) * standard.scale)
      .clamp(-kCostInputLimit, kCostInputLimit);
}

// Brings the columns of a standard into another order. Columns that are not
// known have scale 0: they have no effect.
void SelectStandard(const std::vector<int64_t>& indices,
                    CostNetworkImpl::Standard& standard) {
  for (torch::Tensor* columns : {&standard.mean, &standard.scale}) {
    columns->set_data(
        SelectRows(columns->unsqueeze(1), indices, torch::zeros({1}))
            .squeeze(1));
  }
}

// The ranges of known inputs by name.
template <typename Known, typename Use>
void ForEachRange(Known& known, const Use& use) {
  use("nodes", known.nodes);
  use("edges", known.edges);
  use("globals", known.globals);
  use("configs", known.configs);
}

torch::Tensor Row(const std::vector<float>& numbers) {
  return torch::tensor(numbers, torch::kFloat32);
}
std::vector<float> ToVector(const torch::Tensor& row) {
  const torch::Tensor numbers = row.to(torch::kFloat32).contiguous();
  const float* const data = numbers.data_ptr<float>();
  return {data, data + numbers.numel()};
}

void SelectRange(const std::vector<int64_t>& indices,
                 KnownInputs::Range& range) {
  const KnownInputs::Range saved = std::move(range);
  range = {};
  for (const int64_t index : indices) {
    // Of features that are not known every value is as good.
    const bool is_known = index != kUnknown;
    range.least.push_back(is_known ? saved.least.at(static_cast<size_t>(index))
                                   : std::numeric_limits<float>::lowest());
    range.largest.push_back(is_known
                                ? saved.largest.at(static_cast<size_t>(index))
                                : std::numeric_limits<float>::max());
  }
}

}  // namespace

CostBatch MakeCostBatch(absl::Span<const CostQuery> queries,
                        const CostSpec& spec, CostJoin join) {
  std::vector<const space::Observation*> graphs;
  std::vector<int32_t> graph_of_sample;
  std::vector<float> configs;
  configs.reserve(queries.size() * spec.config_names.size());
  for (const CostQuery& query : queries) {
    if (join == CostJoin::kEarly || graphs.empty() ||
        graphs.back() != query.graph) {
      graphs.push_back(query.graph);
    }
    graph_of_sample.push_back(static_cast<int32_t>(graphs.size()) - 1);
    configs.insert(configs.end(), query.config.begin(), query.config.end());
  }
  const auto count = static_cast<int64_t>(queries.size());
  return {MakeGraphBatch(graphs, spec.graph), Ids(graph_of_sample, {count}),
          Numbers(configs,
                  {count, static_cast<int64_t>(spec.config_names.size())})};
}

CostNetworkImpl::CostNetworkImpl(const CostSpec& spec,
                                 const CostOptions& options)
    : options_(options) {
  const int64_t width = options.width, hidden = options.hidden;
  const auto config_count = static_cast<int64_t>(spec.config_names.size());
  nodes = MakeStandard("nodes", spec.graph.node_features);
  edges = MakeStandard("edges", spec.graph.edge_features);
  globals = MakeStandard("globals", spec.graph.global_features);
  configs = MakeStandard("configs", config_count);
  encoder_ = register_module("encoder", NodeEncoder(EncoderSpec(spec, options),
                                                    EncoderOptionsOf(options)));
  if (options.encoder == CostEncoder::kSequence) {
    sequence_ = register_module("sequence",
                                NodeLstm(width, std::max(options.layers, 1)));
  }
  for (const CostReduction reduction : options.reductions) {
    if (reduction == CostReduction::kLstm) {
      lstm_ = register_module("reduction_lstm", NodeLstm(width, 1));
    }
    if (reduction == CostReduction::kTransformer) {
      transformer_ =
          register_module("reduction_transformer", NodeTransformer(width));
    }
  }
  const int64_t kernel =
      static_cast<int64_t>(options.reductions.size()) * width +
      spec.graph.global_features;
  for (size_t h = 0; h < spec.heads.size(); ++h) {
    const auto name = [&](const char* part) {
      return absl::StrCat("head_", spec.heads[h].name, "_", part);
    };
    Head head;
    head.kernel = register_module(name("kernel"), Linear(kernel, hidden));
    if (options.join == CostJoin::kLate && config_count > 0) {
      head.config =
          register_module(name("config"), Linear(config_count, hidden));
    }
    head.hidden = register_module(name("hidden"), Linear(hidden, hidden));
    head.output = register_module(name("output"), Linear(hidden, 1));
    head.target = MakeStandard(name("target"), 1);
    head.spread =
        register_buffer(name("spread"), torch::zeros({hidden, hidden}));
    head.center = register_buffer(name("center"), torch::zeros({hidden}));
    head.noise = register_buffer(name("noise"), torch::zeros({2}));
    torch::NoGradGuard no_grad;
    head.output->weight.zero_();
    head.output->bias.zero_();
    heads_.push_back(std::move(head));
  }
}

CostNetworkImpl::Standard CostNetworkImpl::MakeStandard(const std::string& name,
                                                        int64_t columns) {
  return {register_buffer(name + "_mean", torch::zeros({columns})),
          register_buffer(name + "_scale", torch::ones({columns}))};
}

void CostNetworkImpl::save(torch::serialize::OutputArchive& archive) const {
  torch::nn::Module::save(archive);
  if (known_.kinds.empty()) return;
  archive.write("known_kinds", Row(std::vector<float>(known_.kinds.begin(),
                                                      known_.kinds.end())));
  ForEachRange(known_, [&](const std::string& name, const auto& range) {
    archive.write(absl::StrCat("known_", name, "_least"), Row(range.least));
    archive.write(absl::StrCat("known_", name, "_largest"), Row(range.largest));
  });
}

void CostNetworkImpl::load(torch::serialize::InputArchive& archive) {
  torch::nn::Module::load(archive);
  known_ = {};
  torch::Tensor row;
  if (!archive.try_read("known_kinds", row)) return;
  for (const float kind : ToVector(row)) known_.kinds.push_back(kind > 0);
  ForEachRange(known_, [&](const std::string& name, auto& range) {
    archive.read(absl::StrCat("known_", name, "_least"), row);
    range.least = ToVector(row);
    archive.read(absl::StrCat("known_", name, "_largest"), row);
    range.largest = ToVector(row);
    TORCH_CHECK(range.least.size() == range.largest.size(), "ranges differ");
  });
}

void CostNetworkImpl::Select(const CostMatch& match) {
  if (!known_.kinds.empty()) {
    std::vector<bool> kinds;
    for (const int64_t kind : match.node_kinds) {
      kinds.push_back(kind != kUnknown &&
                      known_.kinds.at(static_cast<size_t>(kind)));
    }
    known_.kinds = std::move(kinds);
    SelectRange(match.node_features, known_.nodes);
    SelectRange(match.edge_features, known_.edges);
    SelectRange(match.global_features, known_.globals);
    SelectRange(match.config, known_.configs);
  }
  ObservationMatch seen = match;
  if (options_.join == CostJoin::kEarly) {
    for (const int64_t index : match.config) {
      seen.node_features.push_back(
          index == kUnknown ? kUnknown : match.saved_node_features + index);
    }
  }
  encoder_->SelectNodes(seen, /*unknown_kind=*/0);
  SelectStandard(match.node_features, nodes);
  SelectStandard(match.edge_features, edges);
  SelectStandard(match.global_features, globals);
  SelectStandard(match.config, configs);
  const auto reduced = static_cast<int64_t>(options_.reductions.size()) *
                       static_cast<int64_t>(options_.width);
  for (Head& head : heads_) {
    SelectColumns(head.kernel, reduced, match.global_features, 0);
    if (!head.config.is_empty()) {
      SelectColumns(head.config, 0, match.config, 0);
    }
  }
}

torch::Tensor CostNetworkImpl::Kernels(const CostBatch& batch) {
  GraphBatch graphs = batch.graphs;
  graphs.node_features = Standardized(graphs.node_features, nodes);
  graphs.edge_features = Standardized(graphs.edge_features, edges);
  if (options_.join == CostJoin::kEarly) {
    graphs.node_features = torch::cat(
        {graphs.node_features, Standardized(batch.configs, configs)
                                   .index_select(0, graphs.graph_of_node)},
        1);
  }
  torch::Tensor rows = encoder_->Nodes(graphs);
  if (!sequence_.is_empty()) rows = sequence_->forward(rows, graphs).nodes;
  const int64_t count = graphs.nodes_of_graph.size(0);
  const auto sum_of = [&](const torch::Tensor& of) {
    return SumOver(of, graphs.graph_of_node, count);
  };
  const torch::Tensor sizes = graphs.nodes_of_graph.clamp_min(1);
  std::vector<torch::Tensor> parts;
  for (const CostReduction reduction : options_.reductions) {
    switch (reduction) {
      case CostReduction::kMean:
        parts.push_back(sum_of(rows) / sizes);
        break;
      case CostReduction::kSum:
        parts.push_back(torch::log1p(sum_of(torch::relu(rows))));
        break;
      case CostReduction::kMax:
        parts.push_back(
            MaxOver(torch::relu(rows), graphs.graph_of_node, count));
        break;
      case CostReduction::kLstm:
        parts.push_back(lstm_->forward(rows, graphs).last);
        break;
      case CostReduction::kTransformer:
        parts.push_back(sum_of(transformer_->forward(rows, graphs)) / sizes);
        break;
    }
  }
  parts.push_back(Standardized(graphs.globals, globals));
  return torch::cat(parts, 1);
}

torch::Tensor CostNetworkImpl::Hidden(int32_t head,
                                      const torch::Tensor& kernels,
                                      const CostBatch& batch,
                                      const torch::Tensor& rows) {
  Head& layers = heads_[static_cast<size_t>(head)];
  // Once for each kernel, not for each of its configurations.
  torch::Tensor x = layers.kernel->forward(kernels).index_select(
      0, batch.graph_of_sample.index_select(0, rows));
  if (!layers.config.is_empty()) {
    x = x + layers.config->forward(
                Standardized(batch.configs.index_select(0, rows), configs));
  }
  return torch::relu(layers.hidden->forward(torch::relu(x)));
}

torch::Tensor CostNetworkImpl::Output(int32_t head,
                                      const torch::Tensor& hidden) {
  Head& layers = heads_[static_cast<size_t>(head)];
  return layers.target.mean +
         layers.target.scale * layers.output->forward(hidden).squeeze(1);
}

torch::Tensor CostNetworkImpl::Deviation(int32_t head,
                                         const torch::Tensor& hidden) const {
  const Head& layers = heads_[static_cast<size_t>(head)];
  const torch::Tensor distance =
      (hidden - layers.center).matmul(layers.spread.t()).square().sum(1);
  return (layers.noise[0] + layers.noise[1] * distance).sqrt();
}

torch::Tensor CostNetworkImpl::forward(int32_t head, const CostBatch& batch) {
  const torch::Tensor rows =
      torch::arange(batch.graph_of_sample.size(0), torch::kInt64);
  return Output(head, Hidden(head, Kernels(batch), batch, rows));
}

namespace {

std::vector<float> Plain(const torch::Tensor& tensor) {
  const torch::Tensor numbers = tensor.detach().contiguous();
  const float* const data = numbers.data_ptr<float>();
  return {data, data + numbers.numel()};
}

CostForwardWeights::Standard Plain(const CostNetworkImpl::Standard& standard) {
  return {Plain(standard.mean), Plain(standard.scale)};
}

// weight: [outputs, inputs], as Torch has it.
DenseLayer PlainLayer(const torch::Tensor& weight, const torch::Tensor& bias) {
  return {weight.size(1), weight.size(0), Plain(weight.t()), Plain(bias)};
}

// Dense layers of the same inputs as one.
DenseLayer PlainPair(const Linear& first, const Linear& second) {
  return PlainLayer(torch::cat({first->weight, second->weight}),
                    torch::cat({first->bias, second->bias}));
}

CostForwardWeights::Head Plain(const CostNetworkImpl::Head& head) {
  CostForwardWeights::Head plain;
  torch::Tensor bias = head.kernel->bias;
  if (!head.config.is_empty()) {
    plain.config = PlainLayer(head.config->weight, head.config->bias);
    bias = bias + head.config->bias;
  }
  plain.kernel = PlainLayer(head.kernel->weight, bias);
  plain.hidden = PlainLayer(head.hidden->weight, head.hidden->bias);
  plain.output = Plain(head.output->weight);
  plain.output_bias = head.output->bias.item<float>();
  plain.target_mean = head.target.mean.item<float>();
  plain.target_scale = head.target.scale.item<float>();
  plain.center = Plain(head.center);
  plain.spread = PlainLayer(head.spread, torch::zeros_like(head.center));
  for (const int64_t i : {0, 1}) plain.noise[i] = head.noise[i].item<float>();
  return plain;
}

}  // namespace

CostForwardWeights PlainWeights(const CostNetworkImpl& network) {
  const torch::NoGradGuard no_grad;
  CostForwardWeights plain;
  plain.options = network.options();
  plain.nodes = Plain(network.nodes);
  plain.edges = Plain(network.edges);
  plain.globals = Plain(network.globals);
  plain.configs = Plain(network.configs);
  const NodeEncoderImpl& encoder = *network.encoder();
  plain.kinds = Plain(encoder.node_kinds()->weight);
  // The last column is that of a constant input.
  const Linear& features = encoder.node_features();
  const int64_t inputs = features->weight.size(1) - 1;
  plain.features =
      PlainLayer(features->weight.narrow(1, 0, inputs),
                 features->bias + features->weight.select(1, inputs));
  for (const NodeEncoderImpl::Layer& layer : encoder.layers()) {
    CostForwardWeights::Layer& to = plain.layers.emplace_back();
    to.message = PlainPair(layer.producers.message, layer.consumers.message);
    if (!layer.producers.edge.is_empty()) {
      to.edge = PlainPair(layer.producers.edge, layer.consumers.edge);
    }
    to.merge = PlainLayer(layer.merge->weight, layer.merge->bias);
  }
  for (const CostNetworkImpl::Head& head : network.heads()) {
    plain.heads.push_back(Plain(head));
  }
  return plain;
}

}  // namespace hone::learning
