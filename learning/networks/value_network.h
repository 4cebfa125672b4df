#ifndef HONE_LEARNING_NETWORKS_VALUE_NETWORK_H_
#define HONE_LEARNING_NETWORKS_VALUE_NETWORK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include <torch/torch.h>

#include "learning/assignments/value_view.h"
#include "learning/networks/encoder.h"
#include "learning/networks/move_rows.h"
#include "learning/networks/spec_match.h"
#include "learning/networks/task_heads.h"

namespace hone::learning {

// The inputs of scores: R rows of variables of one group with D values each.
struct ValueRows {
  size_t group = 0;
  torch::Tensor nodes;           // [R] int64: the node of each variable
  torch::Tensor value_features;  // [D, features of the group's values]
  torch::Tensor features;        // [R, D, kValueFeatures]
};

// The embeddings that scores are computed from.
struct ValueEncoding {
  std::vector<torch::Tensor> nodes;  // of each group: [N, width]
  torch::Tensor graphs;              // [U, width]
};

// Scores all values of all variables at once, given an assignment: a value from
// an embedding of the variable's node, what the value is like, its number, and
// how it stands in the assignment. Decisions influence each other through the
// assignment of the iteration before.
// Source: Zhou et al., "Transferable Graph Optimizers for ML Compilers", 2020,
// section 3 (non-autoregressive decoding in iterations).
class ValueNetworkImpl : public torch::nn::Module {
 public:
  ValueNetworkImpl(const AssignmentSpec& spec, const EncoderOptions& options);

  // Brings weights that were loaded for another spec into the order of this
  // one, as GraphEncoder does.
  void Select(const AssignmentMatch& match);

  ValueEncoding Encode(const GraphBatch& batch);
  // The scores of rows of a graph: [R, D]. A new network gives 0.
  torch::Tensor Score(const ValueRows& rows, const ValueEncoding& encoding);
  // Returns the expected gains of moves of a graph: [M]. The network must be
  // made for described moves. A new network gives 0.
  torch::Tensor ScoreMoves(const MoveRows& rows, const ValueEncoding& encoding);

 private:
  struct Head {
    torch::nn::Linear node{nullptr};
    torch::nn::Linear value{nullptr};
    torch::nn::Embedding number{nullptr};
    torch::nn::Linear features{nullptr};
    torch::nn::Linear hidden{nullptr};
    torch::nn::Linear score{nullptr};
  };

  GraphEncoder encoder_{nullptr};
  TaskHeads task_heads_{nullptr};  // if there are any
  Conditioning conditioning_{nullptr};
  // The layers for moves, if they are described. What a move changes is the
  // mean over its changes of the same embeddings of nodes and values as above.
  struct MoveHead {
    torch::nn::Linear features{nullptr};
    torch::nn::Linear hidden{nullptr};
    torch::nn::Linear score{nullptr};
  };

  // The embedding of the values of a group: [D, width].
  torch::Tensor EmbedValues(size_t group, const torch::Tensor& value_features);

  std::vector<Head> heads_;  // by group
  MoveHead move_head_;
};
TORCH_MODULE(ValueNetwork);

}  // namespace hone::learning

#endif  // HONE_LEARNING_NETWORKS_VALUE_NETWORK_H_
