#ifndef HONE_LEARNING_NETWORKS_SEGMENT_ATTENTION_H_
#define HONE_LEARNING_NETWORKS_SEGMENT_ATTENTION_H_

#include <cstdint>

#include <torch/torch.h>

#include "learning/networks/graph_batch.h"

namespace hone::learning {

// Self-attention along the order of the nodes, which should be topological: a
// node attends to those of its segment and of the one before, whose gradient is
// not followed. Time and memory are linear in the nodes. Segments of all graphs
// are computed together; no node sees another graph.
// Source: Dai et al., "Transformer-XL", 2019, section 3.2, without positions:
// the embeddings of the graph tell them.
class SegmentAttentionImpl : public torch::nn::Module {
 public:
  SegmentAttentionImpl(int64_t width, int64_t segment);

  // nodes: [N, width]. Returns [N, width].
  torch::Tensor forward(const torch::Tensor& nodes, const GraphBatch& batch);

 private:
  const int64_t width_;
  const int64_t segment_;
  torch::nn::LayerNorm norm_{nullptr};
  torch::nn::Linear queries_{nullptr};
  torch::nn::Linear keys_{nullptr};
  torch::nn::Linear values_{nullptr};
  torch::nn::Linear merge_{nullptr};
};
TORCH_MODULE(SegmentAttention);

}  // namespace hone::learning

#endif  // HONE_LEARNING_NETWORKS_SEGMENT_ATTENTION_H_
