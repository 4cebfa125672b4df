#ifndef HONE_LEARNING_NETWORKS_MOVE_NETWORK_H_
#define HONE_LEARNING_NETWORKS_MOVE_NETWORK_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include <torch/torch.h>

#include "learning/games/game.h"
#include "learning/games/scorer.h"
#include "learning/networks/encoder.h"
#include "learning/networks/graph_batch.h"
#include "learning/networks/spec_match.h"

namespace hone::learning {

// The parts of B views other than their graphs. M is the largest number of
// moves of a view.
struct ViewBatch {
  torch::Tensor graph_of_view;  // [B] int64, 0 … U-1
  torch::Tensor game_features;  // [B, kGameFeatures]
  torch::Tensor kinds;          // [B, M] int64, 0 where there is no move
  torch::Tensor focus;          // [B, M] int64: a node, N for none
  torch::Tensor features;       // [B, M, spec.move_features()]
  torch::Tensor has_move;       // [B, M] bool: false behind a view's last move
};

// `graph_of_view`: the graph of each view. `first_node`: that of each graph,
// and N; empty if the nodes are not at hand, then no move has a focus.
ViewBatch MakeViewBatch(absl::Span<const View* const> views,
                        absl::Span<const int32_t> graph_of_view,
                        absl::Span<const int64_t> first_node,
                        const GameSpec& spec);

// Views that share a state share its graph.
struct Batch {
  GraphBatch graphs;
  ViewBatch views;
};

Batch MakeBatch(absl::Span<const View* const> views, const GameSpec& spec);

struct MoveOutput {
  torch::Tensor scores;  // [B, M]: logits or action values; -inf for no move
  torch::Tensor values;  // [B]: expected further rewards of the game
  // [B, M, 2]: what a move does: the logit of its changing anything, and its
  // reward if it does.
  torch::Tensor effects;
};

// A graph encoder with heads that score any number of moves, predict their
// effects, and the value of the position. A move is scored from an embedding of
// its kind, its features, its focus and the position, so that the set of moves
// may vary. A new network scores all moves equally.
class MoveNetworkImpl : public torch::nn::Module {
 public:
  MoveNetworkImpl(const GameSpec& spec, const EncoderOptions& options);

  // Brings weights that were loaded for another spec into the order of this
  // one, as GraphEncoder does.
  void Select(const SpecMatch& match);

  MoveOutput forward(const Batch& batch);
  // The two halves of forward. Nearly all time is spent in Encode, which
  // depends on the graphs only.
  Encoding Encode(const GraphBatch& batch) { return encoder_->forward(batch); }
  // encoding.nodes may be [0, width] if no move has a focus.
  MoveOutput Decide(const ViewBatch& batch, const Encoding& encoding);

 private:
  GraphEncoder encoder_{nullptr};
  torch::nn::Linear position_{nullptr};
  torch::nn::Embedding kinds_{nullptr};
  torch::nn::Linear features_{nullptr};
  torch::nn::Linear focus_{nullptr};
  torch::nn::Linear move_position_{nullptr};
  Conditioning conditioning_{nullptr};
  torch::nn::Linear hidden_{nullptr};
  torch::nn::Linear score_{nullptr};
  torch::nn::Linear effects_{nullptr};
  torch::nn::Linear value_hidden_{nullptr};
  torch::nn::Linear value_{nullptr};
};
TORCH_MODULE(MoveNetwork);

// Returns the network's output for each view.
std::vector<MoveScores> ReadScores(const MoveOutput& output,
                                   absl::Span<const View* const> views);

}  // namespace hone::learning

#endif  // HONE_LEARNING_NETWORKS_MOVE_NETWORK_H_
