#ifndef HONE_LEARNING_NETWORKS_COST_FORWARD_H_
#define HONE_LEARNING_NETWORKS_COST_FORWARD_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

#include "learning/cost/cost_options.h"
#include "learning/cost/cost_samples.h"
#include "learning/networks/dense_rows.h"

namespace hone::learning {

// Standardized inputs are cut off at this many deviations.
inline constexpr float kCostInputLimit = 8;

// The weights of a CostNetwork as plain numbers.
struct CostForwardWeights {
  struct Standard {
    std::vector<float> mean;   // [columns]
    std::vector<float> scale;  // [columns]
  };
  struct Layer {
    // Both directions at once: messages to consumers, then to producers.
    DenseLayer message;  // [width] to [2 width]
    DenseLayer edge;     // [edge_features] to [2 width], if there are any
    DenseLayer merge;    // [3 width] to [width]
  };
  struct Head {
    DenseLayer kernel;  // [reductions · width + global_features] to [hidden]
    DenseLayer config;  // [config_names] to [hidden], if joined late
    DenseLayer hidden;  // [hidden] to [hidden]
    std::vector<float> output;  // [hidden]
    float output_bias = 0;
    float target_mean = 0;
    float target_scale = 1;
    std::vector<float> center;  // [hidden]
    DenseLayer spread;          // [hidden] to [hidden], without a bias
    float noise[2] = {0, 0};
  };

  CostOptions options;
  Standard nodes, edges, globals, configs;
  std::vector<float> kinds;  // [node_kinds, width]
  DenseLayer features;       // of nodes, and of configurations if joined early
  std::vector<Layer> layers;
  std::vector<Head> heads;
};

// Computes what CostNetwork does, several times as fast for kernels of some
// dozens of nodes: Torch takes most of the time there for calls of operators.
// Threads: thread-safe.
class CostForward {
 public:
  // Returns true for the architectures that it computes.
  static bool Supports(const CostOptions& options);

  explicit CostForward(CostForwardWeights weights);

  // Predicts queries, which fit the spec, all together: their nodes should fit
  // in the second-level cache. Writes [queries] each.
  void Predict(int32_t head, absl::Span<const CostQuery> queries, float* values,
               float* deviations) const;

 private:
  struct Graphs;

  // Returns the embeddings of the kernels: [graphs, K].
  std::vector<float> Kernels(const Graphs& graphs,
                             absl::Span<const CostQuery> queries) const;
  // Returns the embeddings of the nodes: [nodes, 3 width], of which the first
  // `width` columns count.
  std::vector<float> Nodes(const Graphs& graphs,
                           absl::Span<const CostQuery> queries) const;
  void Aggregate(const CostForwardWeights::Layer& layer, const Graphs& graphs,
                 absl::Span<const float> edge_inputs,
                 const std::vector<float>& messages,
                 std::vector<float>& rows) const;

  const CostForwardWeights weights_;
};

}  // namespace hone::learning

#endif  // HONE_LEARNING_NETWORKS_COST_FORWARD_H_
