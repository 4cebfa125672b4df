#ifndef HONE_LEARNING_NETWORKS_NODE_SEQUENCES_H_
#define HONE_LEARNING_NETWORKS_NODE_SEQUENCES_H_

#include <cstdint>

#include <torch/torch.h>

#include "learning/networks/graph_batch.h"
#include "learning/networks/segment_attention.h"

namespace hone::learning {

// An LSTM over the nodes of each graph in their order, which should be
// topological. Graphs of any sizes run together; none sees another.
class NodeLstmImpl : public torch::nn::Module {
 public:
  NodeLstmImpl(int64_t width, int64_t layers);

  struct Output {
    torch::Tensor nodes;  // [N, width]: after each node
    torch::Tensor last;   // [U, width]: after the last one; 0 if there is none
  };
  // nodes: [N, width].
  Output forward(const torch::Tensor& nodes, const GraphBatch& batch);

 private:
  const int64_t width_;
  torch::nn::LSTM lstm_{nullptr};
};
TORCH_MODULE(NodeLstm);

// A Transformer encoder layer over the nodes of each graph: self-attention and
// a feed-forward network, each with a residual connection. In graphs of more
// than 256 nodes, a node attends to those near it (SegmentAttention).
// Source: Vaswani et al., "Attention Is All You Need", 2017, section 3.1,
// without positions.
class NodeTransformerImpl : public torch::nn::Module {
 public:
  explicit NodeTransformerImpl(int64_t width);

  // nodes: [N, width]. Returns [N, width].
  torch::Tensor forward(const torch::Tensor& nodes, const GraphBatch& batch);

 private:
  SegmentAttention attention_{nullptr};
  torch::nn::LayerNorm norm_{nullptr};
  torch::nn::Linear wide_{nullptr};
  torch::nn::Linear narrow_{nullptr};
};
TORCH_MODULE(NodeTransformer);

}  // namespace hone::learning

#endif  // HONE_LEARNING_NETWORKS_NODE_SEQUENCES_H_
