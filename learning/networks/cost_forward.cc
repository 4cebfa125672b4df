#include "learning/networks/cost_forward.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hone::learning {
namespace {

// As in the encoder.
constexpr float kNormEpsilon = 1e-6F;

void Rectify(std::vector<float>& values) {
  for (float& x : values) x = std::max(x, 0.0F);
}

// Writes the standardized numbers of a row of `from` to `to`.
void Standardize(absl::Span<const float> from,
                 const CostForwardWeights::Standard& standard, float* to) {
  for (size_t i = 0; i < from.size(); ++i) {
    to[i] = std::clamp((from[i] - standard.mean[i]) * standard.scale[i],
                       -kCostInputLimit, kCostInputLimit);
  }
}

}  // namespace

// The distinct graphs of queries, their nodes and edges in one list each.
struct CostForward::Graphs {
  std::vector<const space::Observation*> graphs;
  std::vector<size_t> graph_of_query;
  std::vector<size_t> first_query;  // of each graph
  std::vector<size_t> first_node;   // of each graph, and the end
  std::vector<size_t> sources;
  std::vector<size_t> targets;

  size_t nodes() const { return first_node.back(); }

  Graphs(absl::Span<const CostQuery> queries, CostJoin join) {
    size_t count = 0;
    for (size_t q = 0; q < queries.size(); ++q) {
      const space::Observation* const graph = queries[q].graph;
      if (join == CostJoin::kEarly || graphs.empty() ||
          graphs.back() != graph) {
        for (size_t e = 0; e < graph->edge_sources.size(); ++e) {
          sources.push_back(count +
                            static_cast<size_t>(graph->edge_sources[e]));
          targets.push_back(count +
                            static_cast<size_t>(graph->edge_targets[e]));
        }
        graphs.push_back(graph);
        first_query.push_back(q);
        first_node.push_back(count);
        count += graph->node_kinds.size();
      }
      graph_of_query.push_back(graphs.size() - 1);
    }
    first_node.push_back(count);
  }
};

bool CostForward::Supports(const CostOptions& options) {
  return options.encoder == CostEncoder::kSage &&
         std::none_of(options.reductions.begin(), options.reductions.end(),
                      [](CostReduction reduction) {
                        return reduction == CostReduction::kLstm ||
                               reduction == CostReduction::kTransformer;
                      });
}

CostForward::CostForward(CostForwardWeights weights)
    : weights_(std::move(weights)) {}

void CostForward::Aggregate(const CostForwardWeights::Layer& layer,
                            const Graphs& graphs,
                            absl::Span<const float> edge_inputs,
                            const std::vector<float>& messages,
                            std::vector<float>& rows) const {
  const auto width = static_cast<size_t>(weights_.options.width);
  const CostAggregator aggregator = weights_.options.aggregator;
  for (size_t i = 0; i < graphs.nodes(); ++i) {
    std::fill_n(&rows[i * 3 * width + width], 2 * width, 0.0F);
  }
  const size_t edges = graphs.sources.size();
  std::vector<float> of_edges(edge_inputs.empty() ? 0 : edges * 2 * width);
  if (!of_edges.empty()) {
    ApplyToRows(layer.edge, edge_inputs.data(), edge_inputs.size() / edges,
                edges, of_edges.data(), 2 * width);
  }
  std::vector<float> degrees(2 * graphs.nodes());
  for (size_t e = 0; e < edges; ++e) {
    for (size_t direction = 0; direction < 2; ++direction) {
      const size_t from =
          direction == 0 ? graphs.sources[e] : graphs.targets[e];
      const size_t to = direction == 0 ? graphs.targets[e] : graphs.sources[e];
      const float* const message =
          &messages[from * 2 * width + direction * width];
      float* const sum = &rows[to * 3 * width + (1 + direction) * width];
      ++degrees[to * 2 + direction];
      if (!of_edges.empty()) {
        const float* const edge = &of_edges[e * 2 * width + direction * width];
        for (size_t k = 0; k < width; ++k) {
          const float x = std::max(message[k] + edge[k], 0.0F);
          sum[k] = aggregator == CostAggregator::kMax ? std::max(sum[k], x)
                                                      : sum[k] + x;
        }
      } else if (aggregator == CostAggregator::kMax) {
        for (size_t k = 0; k < width; ++k) {
          sum[k] = std::max(sum[k], message[k]);
        }
      } else {
        for (size_t k = 0; k < width; ++k) {
          sum[k] += std::max(message[k], 0.0F);
        }
      }
    }
  }
  if (aggregator != CostAggregator::kMean) return;
  for (size_t i = 0; i < degrees.size(); ++i) {
    if (degrees[i] < 2) continue;
    float* const sum = &rows[i / 2 * 3 * width + (1 + i % 2) * width];
    for (size_t k = 0; k < width; ++k) sum[k] /= degrees[i];
  }
}

std::vector<float> CostForward::Nodes(
    const Graphs& graphs, absl::Span<const CostQuery> queries) const {
  const auto width = static_cast<size_t>(weights_.options.width);
  const size_t nodes = graphs.nodes();
  const size_t features = weights_.nodes.mean.size();
  const auto inputs = static_cast<size_t>(weights_.features.inputs);
  std::vector<float> in(nodes * inputs), edge_inputs;
  std::vector<float> rows(nodes * 3 * width), next(nodes * width),
      messages(nodes * 2 * width);
  for (size_t g = 0; g < graphs.graphs.size(); ++g) {
    const space::Observation& graph = *graphs.graphs[g];
    std::vector<float> config(inputs - features);
    if (!config.empty()) {
      Standardize(queries[graphs.first_query[g]].config, weights_.configs,
                  config.data());
    }
    for (size_t i = 0; i < graph.node_kinds.size(); ++i) {
      const size_t node = graphs.first_node[g] + i;
      float* const row = in.data() + node * inputs;
      Standardize(absl::MakeConstSpan(graph.node_features)
                      .subspan(i * features, features),
                  weights_.nodes, row);
      std::copy(config.begin(), config.end(), row + features);
      const auto kind = static_cast<size_t>(graph.node_kinds[i]);
      for (size_t k = 0; k < width; ++k) {
        next[node * width + k] =
            weights_.kinds[kind * width + k] + weights_.features.bias[k];
      }
    }
    const size_t edge_features = weights_.edges.mean.size();
    if (edge_features == 0) continue;
    for (size_t e = 0; e < graph.edge_sources.size(); ++e) {
      edge_inputs.resize(edge_inputs.size() + edge_features);
      Standardize(absl::MakeConstSpan(graph.edge_features)
                      .subspan(e * edge_features, edge_features),
                  weights_.edges,
                  edge_inputs.data() + edge_inputs.size() - edge_features);
    }
  }
  ApplyToRows(weights_.features, in.data(), inputs, nodes, next.data(), width,
              /*adds=*/true);
  Rectify(next);
  for (size_t i = 0; i < nodes; ++i) {
    std::copy_n(&next[i * width], width, &rows[i * 3 * width]);
  }
  for (const CostForwardWeights::Layer& layer : weights_.layers) {
    ApplyToRows(layer.message, rows.data(), 3 * width, nodes, messages.data(),
                2 * width);
    Aggregate(layer, graphs, edge_inputs, messages, rows);
    ApplyToRows(layer.merge, rows.data(), 3 * width, nodes, next.data(), width);
    for (size_t i = 0; i < nodes; ++i) {
      float* const from = &next[i * width];
      float squares = 0;
      for (size_t k = 0; k < width; ++k) {
        from[k] = std::max(from[k], 0.0F);
        squares += from[k] * from[k];
      }
      const float factor =
          1 / std::sqrt(squares / static_cast<float>(width) + kNormEpsilon);
      float* const to = &rows[i * 3 * width];
      for (size_t k = 0; k < width; ++k) to[k] = from[k] * factor;
    }
  }
  return rows;
}

std::vector<float> CostForward::Kernels(
    const Graphs& graphs, absl::Span<const CostQuery> queries) const {
  const auto width = static_cast<size_t>(weights_.options.width);
  const std::vector<float> rows = Nodes(graphs, queries);
  const std::vector<CostReduction>& reductions = weights_.options.reductions;
  const size_t inputs =
      reductions.size() * width + weights_.globals.mean.size();
  std::vector<float> kernels(graphs.graphs.size() * inputs);
  std::vector<float> sum(width), most(width);
  for (size_t g = 0; g < graphs.graphs.size(); ++g) {
    const size_t first = graphs.first_node[g];
    const size_t count = graphs.first_node[g + 1] - first;
    std::fill(sum.begin(), sum.end(), 0.0F);
    std::fill(most.begin(), most.end(), 0.0F);
    for (size_t i = first; i < first + count; ++i) {
      const float* const row = &rows[i * 3 * width];
      // Embeddings are never negative.
      for (size_t k = 0; k < width; ++k) {
        sum[k] += row[k];
        most[k] = std::max(most[k], row[k]);
      }
    }
    float* out = &kernels[g * inputs];
    for (const CostReduction reduction : reductions) {
      for (size_t k = 0; k < width; ++k) {
        if (reduction == CostReduction::kMean) {
          out[k] = sum[k] / static_cast<float>(std::max<size_t>(count, 1));
        } else if (reduction == CostReduction::kSum) {
          out[k] = std::log1p(sum[k]);
        } else {
          out[k] = most[k];
        }
      }
      out += width;
    }
    Standardize(graphs.graphs[g]->global_features, weights_.globals, out);
  }
  return kernels;
}

void CostForward::Predict(int32_t head, absl::Span<const CostQuery> queries,
                          float* values, float* deviations) const {
  if (queries.empty()) return;
  const CostForwardWeights::Head& layers =
      weights_.heads[static_cast<size_t>(head)];
  const auto hidden = static_cast<size_t>(layers.hidden.outputs);
  const Graphs graphs(queries, weights_.options.join);
  const std::vector<float> kernels = Kernels(graphs, queries);
  std::vector<float> of_graphs(graphs.graphs.size() * hidden);
  ApplyToRows(layers.kernel, kernels.data(),
              static_cast<size_t>(layers.kernel.inputs), graphs.graphs.size(),
              of_graphs.data(), hidden);
  const size_t count = queries.size();
  std::vector<float> first(count * hidden), second(count * hidden);
  for (size_t q = 0; q < count; ++q) {
    std::copy_n(&of_graphs[graphs.graph_of_query[q] * hidden], hidden,
                &first[q * hidden]);
  }
  if (layers.config.inputs > 0) {
    const auto inputs = static_cast<size_t>(layers.config.inputs);
    std::vector<float> configs(count * inputs);
    for (size_t q = 0; q < count; ++q) {
      Standardize(queries[q].config, weights_.configs, &configs[q * inputs]);
    }
    // The bias of this layer is part of that of `kernel`.
    ApplyToRows(layers.config, configs.data(), inputs, count, first.data(),
                hidden, /*adds=*/true);
  }
  Rectify(first);
  ApplyToRows(layers.hidden, first.data(), hidden, count, second.data(),
              hidden);
  Rectify(second);
  for (size_t q = 0; q < count; ++q) {
    float* const row = &second[q * hidden];
    float sum = layers.output_bias;
    for (size_t k = 0; k < hidden; ++k) sum += row[k] * layers.output[k];
    values[q] = layers.target_mean + layers.target_scale * sum;
    for (size_t k = 0; k < hidden; ++k) row[k] -= layers.center[k];
  }
  ApplyToRows(layers.spread, second.data(), hidden, count, first.data(),
              hidden);
  for (size_t q = 0; q < count; ++q) {
    float distance = 0;
    for (size_t k = 0; k < hidden; ++k) {
      distance += first[q * hidden + k] * first[q * hidden + k];
    }
    deviations[q] = std::sqrt(layers.noise[0] + layers.noise[1] * distance);
  }
}

}  // namespace hone::learning
