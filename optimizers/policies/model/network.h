#ifndef HONE_OPTIMIZERS_POLICIES_MODEL_NETWORK_H_
#define HONE_OPTIMIZERS_POLICIES_MODEL_NETWORK_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include <torch/torch.h>

#include "optimizers/policies/game/game.h"
#include "optimizers/policies/game/scorer.h"
#include "optimizers/policies/model/spec_match.h"

namespace hone::optimizers::policies {

// U graphs as tensors, with N nodes and E edges in all.
struct GraphBatch {
  torch::Tensor node_kinds;      // [N] int64
  torch::Tensor node_features;   // [N, node_features]
  torch::Tensor graph_of_node;   // [N] int64, 0 … U-1
  torch::Tensor nodes_of_graph;  // [U, 1] float: their number
  torch::Tensor sources;         // [E] int64
  torch::Tensor targets;         // [E] int64
  torch::Tensor in_degree;       // [N, 1], at least 1
  torch::Tensor out_degree;      // [N, 1], at least 1
  torch::Tensor globals;         // [U, global_features]
};

GraphBatch MakeGraphBatch(absl::Span<const space::Observation* const> graphs,
                          const GameSpec& spec);

// The parts of B views other than their graphs. M is the largest number of
// moves of a view.
struct ViewBatch {
  torch::Tensor graph_of_view;  // [B] int64, 0 … U-1
  torch::Tensor focus;          // [B] int64, a node, 0 … N-1
  torch::Tensor has_focus;      // [B, 1] float
  torch::Tensor game_features;  // [B, kGameFeatures]
  torch::Tensor move_kinds;     // [B, M] int64, 0 where there is none
  torch::Tensor move_features;  // [B, M, kMoveFeatures]
  torch::Tensor no_move;        // [B, M] bool: true behind a view's last move
};

// `graph_of_view`: the graph of each view. `first_node`: that of each graph.
ViewBatch MakeViewBatch(absl::Span<const View* const> views,
                        absl::Span<const int32_t> graph_of_view,
                        absl::Span<const int32_t> first_node);

// Views that share a state share its graph.
struct Batch {
  GraphBatch graphs;
  ViewBatch views;
};

Batch MakeBatch(absl::Span<const View* const> views, const GameSpec& spec);

// The encoder's output.
struct Encoding {
  torch::Tensor nodes;   // [N, width]
  torch::Tensor graphs;  // [U, width]
};

struct NetworkOutput {
  torch::Tensor scores;  // [B, M]: logits or action values; -inf for no move
  torch::Tensor values;  // [B]: expected further rewards of the game
};

// A graph encoder with a head that scores any number of moves and a value head.
//
// Encoder: GraphSAGE (Hamilton, Ying and Leskovec, "Inductive Representation
// Learning on Large Graphs", 2017, algorithm 1, mean aggregator); unlike there,
// producers and consumers are aggregated separately, over all neighbors, and
// layers are residual. A graph is the mean and the root mean square of its
// nodes beside its global features. A move is scored from an embedding of its
// kind, its features and the state, so that the set of moves may vary. A new
// network scores all moves equally.
class NetworkImpl : public torch::nn::Module {
 public:
  explicit NetworkImpl(const GameSpec& spec);

  // Loads weights that were saved for another spec. A kind that they do not
  // know gets the mean of those that they know, a global feature has no effect.
  // Throws c10::Error if `archive` has no such weights.
  void LoadMatched(torch::serialize::InputArchive& archive,
                   const SpecMatch& match);

  NetworkOutput forward(const Batch& batch);
  // The two halves of forward. Nearly all time is spent in Encode, which
  // depends on the graphs only.
  Encoding Encode(const GraphBatch& batch);
  NetworkOutput Decide(const ViewBatch& batch, const Encoding& encoding);

  const GameSpec& spec() const { return spec_; }

 private:
  struct Layer {
    torch::nn::Linear self{nullptr};
    torch::nn::Linear producers{nullptr};
    torch::nn::Linear consumers{nullptr};
    torch::nn::LayerNorm norm{nullptr};
  };

  // [N, width]
  torch::Tensor EncodeNodes(const GraphBatch& batch);

  const GameSpec spec_;
  torch::nn::Embedding node_kinds_{nullptr};
  torch::nn::Linear node_features_{nullptr};
  std::vector<Layer> layers_;
  torch::nn::Linear graph_{nullptr};
  torch::nn::Linear position_{nullptr};
  torch::nn::Embedding move_kinds_{nullptr};
  torch::nn::Linear move_features_{nullptr};
  torch::nn::Linear move_position_{nullptr};
  torch::nn::Linear score_{nullptr};
  torch::nn::Linear value_hidden_{nullptr};
  torch::nn::Linear value_{nullptr};
};
TORCH_MODULE(Network);

// Returns the network's output for each view.
std::vector<MoveScores> ReadScores(const NetworkOutput& output,
                                   absl::Span<const View* const> views);

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_MODEL_NETWORK_H_
