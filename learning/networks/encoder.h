#ifndef HONE_LEARNING_NETWORKS_ENCODER_H_
#define HONE_LEARNING_NETWORKS_ENCODER_H_

#include <cstdint>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "learning/networks/encoder_options.h"
#include "learning/networks/graph_batch.h"
#include "learning/networks/segment_attention.h"
#include "learning/networks/spec_match.h"
#include "space/observation.h"

namespace hone::learning {

// Return, for each of `count` indices, the sum and the largest value, at least
// 0, of each column over the rows of that index: [count, columns].
// rows: [R, columns]; index: [R] int64.
torch::Tensor SumOver(const torch::Tensor& rows, const torch::Tensor& index,
                      int64_t count);
torch::Tensor MaxOver(const torch::Tensor& rows, const torch::Tensor& index,
                      int64_t count);

// The encoder's output.
struct Encoding {
  torch::Tensor nodes;   // [N, width]
  torch::Tensor graphs;  // [U, width]
};

// Embeds the nodes of graphs.
//
// A layer gives node i the embedding
//   e_i' = norm(f3(concat(e_i, A_j f2(e_j, edge), A_k f2'(e_k, edge))))
// over its producers j and consumers k, where A is the aggregator, f2 a dense
// layer with a rectifier, f3 a dense layer with one, and norm divides by the
// root mean square. Source: Kaufman et al., "A Learned Performance Model for
// Tensor Processing Units", 2021, section 3.2, after Hamilton, Ying and
// Leskovec, "Inductive Representation Learning on Large Graphs", 2017; unlike
// there, producers and consumers are aggregated separately, over all neighbors,
// and edges have features. Attention is that of Veličković et al., "Graph
// Attention Networks", 2018, equation 3.
//
// With a segment length, attention along the nodes follows (SegmentAttention).
class NodeEncoderImpl : public torch::nn::Module {
 public:
  NodeEncoderImpl(const space::ObservationSpec& spec,
                  const EncoderOptions& options);

  // Returns the embeddings: [N, width].
  torch::Tensor Nodes(const GraphBatch& batch);

  // Brings weights that were loaded for another observation into the order of
  // this one. A kind that they do not know gets the weights of their kind
  // `unknown_kind` or, if that is kUnknown, the mean of those that they know; a
  // feature that they do not know has no effect.
  void SelectNodes(const ObservationMatch& match, int64_t unknown_kind);

  // The weights, for whoever computes the same without Torch.

  // Gathers messages along the edges in one direction.
  struct Direction {
    torch::nn::Linear message{nullptr};
    torch::nn::Linear edge{nullptr};       // if there are edge features
    torch::nn::Linear attention{nullptr};  // of sender and receiver
  };
  struct Layer {
    Direction producers;
    Direction consumers;
    torch::nn::Linear merge{nullptr};
  };
  const torch::nn::Embedding& node_kinds() const { return node_kinds_; }
  // The last column is the bias of a constant input.
  const torch::nn::Linear& node_features() const { return node_features_; }
  const std::vector<Layer>& layers() const { return layers_; }

 protected:
  const EncoderOptions options_;

 private:
  Direction MakeDirection(const std::string& name, int32_t edge_features);
  torch::Tensor Aggregate(Direction& direction, const torch::Tensor& nodes,
                          const torch::Tensor& from, const torch::Tensor& to,
                          const torch::Tensor& degree,
                          const torch::Tensor& edge_features);

  torch::nn::Embedding node_kinds_{nullptr};
  torch::nn::Linear node_features_{nullptr};
  std::vector<Layer> layers_;
  SegmentAttention attention_{nullptr};
};
TORCH_MODULE(NodeEncoder);

// Embeds graphs besides: a graph is the mean, the logarithm of the sum and the
// maximum of its nodes beside its global features.
class GraphEncoderImpl : public NodeEncoderImpl {
 public:
  GraphEncoderImpl(const space::ObservationSpec& spec,
                   const EncoderOptions& options);

  Encoding forward(const GraphBatch& batch);

  // As SelectNodes, with the mean of the known kinds, for all weights.
  void Select(const ObservationMatch& match);

 private:
  // The inputs of pooled nodes come first, then the global features.
  torch::nn::Linear graph_{nullptr};
};
TORCH_MODULE(GraphEncoder);

// Scales the inputs of a dense layer by what the graph is like: x * (1 + W g),
// where W is 0 at first. Without options.conditioning it does nothing.
// Source: Cheung et al., "Superposition of Many Models into One", 2019, as used
// by Zhou et al., "Transferable Graph Optimizers for ML Compilers", 2020.
class ConditioningImpl : public torch::nn::Module {
 public:
  explicit ConditioningImpl(const EncoderOptions& options);

  // rows: [R, …, width]; graphs: [R, width].
  torch::Tensor forward(const torch::Tensor& rows, const torch::Tensor& graphs);

 private:
  torch::nn::Linear scale_{nullptr};
};
TORCH_MODULE(Conditioning);

}  // namespace hone::learning

#endif  // HONE_LEARNING_NETWORKS_ENCODER_H_
