#ifndef HONE_LEARNING_NETWORKS_TASK_HEADS_H_
#define HONE_LEARNING_NETWORKS_TASK_HEADS_H_

#include <cstdint>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "learning/networks/graph_batch.h"
#include "learning/networks/segment_attention.h"

namespace hone::learning {

// A chain of heads, one for each group of variables, each of which sees what
// the one before made of the nodes, so that later decisions depend on earlier
// ones:
//   H_t = f(LN(concat(A_{t-1}, H_{t-1}))),  A_t = FC(attention(H_t))
// with A_0 and H_0 the embeddings of the encoder. f, a dense layer, keeps the
// width, which would double with each head.
// Source: Zhou et al., "Transferable Graph Optimizers for ML Compilers", 2020,
// recurrent attention task heads.
class TaskHeadsImpl : public torch::nn::Module {
 public:
  // `segment` as of SegmentAttention.
  TaskHeadsImpl(const std::vector<std::string>& names, int64_t width,
                int64_t segment);

  // nodes: [N, width]. Returns A_t of each group, [N, width].
  std::vector<torch::Tensor> forward(const torch::Tensor& nodes,
                                     const GraphBatch& batch);

 private:
  struct Head {
    torch::nn::LayerNorm norm{nullptr};
    torch::nn::Linear merge{nullptr};
    SegmentAttention attention{nullptr};
    torch::nn::Linear output{nullptr};
  };
  std::vector<Head> heads_;
};
TORCH_MODULE(TaskHeads);

}  // namespace hone::learning

#endif  // HONE_LEARNING_NETWORKS_TASK_HEADS_H_
