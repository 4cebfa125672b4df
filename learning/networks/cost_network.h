#ifndef HONE_LEARNING_NETWORKS_COST_NETWORK_H_
#define HONE_LEARNING_NETWORKS_COST_NETWORK_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include <torch/torch.h>

#include "learning/cost/cost_options.h"
#include "learning/cost/cost_samples.h"
#include "learning/cost/known_inputs.h"
#include "learning/networks/cost_forward.h"
#include "learning/networks/encoder.h"
#include "learning/networks/node_sequences.h"
#include "learning/networks/spec_match.h"

namespace hone::learning {

// The inputs of S predictions for U graphs.
struct CostBatch {
  GraphBatch graphs;
  torch::Tensor graph_of_sample;  // [S] int64, ascending
  torch::Tensor configs;          // [S, config_names]
};

// Returns the inputs of queries. Joined late, queries of one graph that follow
// each other share it; joined early, each has one of its own.
CostBatch MakeCostBatch(absl::Span<const CostQuery> queries,
                        const CostSpec& spec, CostJoin join);

class CostNetworkImpl;

// Returns the weights for CostForward, which must support the architecture.
CostForwardWeights PlainWeights(const CostNetworkImpl& network);

// Predicts the cost of configurations of kernels: an encoder of the nodes,
// reductions to an embedding of the kernel, and a head for each quantity, two
// dense layers with rectifiers and a linear one. Joined early, the features of
// the configuration are among those of every node; joined late, the heads see
// them beside the embedding.
//
// Inputs are standardized, (x - mean) · scale, cut off at ±kCostInputLimit, by
// buffers that belong to the weights; an output is mean + scale · (what the
// head's last layer gives), by buffers likewise.
// Source: Kaufman et al., "A Learned Performance Model for Tensor Processing
// Units", 2021, sections 3.2 and 3.3.
class CostNetworkImpl : public torch::nn::Module {
 public:
  // A new network predicts 0.
  CostNetworkImpl(const CostSpec& spec, const CostOptions& options);

  // Brings weights that were loaded for another spec into the order of this
  // network's. Kinds of nodes that they do not know are like kind 0.
  void Select(const CostMatch& match);

  // With what the training was like, which older weights do not say.
  void save(torch::serialize::OutputArchive& archive) const override;
  void load(torch::serialize::InputArchive& archive) override;

  // Returns the embeddings of the kernels: [U, K].
  torch::Tensor Kernels(const CostBatch& batch);
  // Returns the inputs of the head's last layer for the samples `rows` ([R]
  // int64) of the batch: [R, hidden].
  torch::Tensor Hidden(int32_t head, const torch::Tensor& kernels,
                       const CostBatch& batch, const torch::Tensor& rows);
  // Returns the predictions from those: [R].
  torch::Tensor Output(int32_t head, const torch::Tensor& hidden);
  // Returns what the predictions are expected to deviate by: [R].
  torch::Tensor Deviation(int32_t head, const torch::Tensor& hidden) const;
  // All of it, for all samples: [S].
  torch::Tensor forward(int32_t head, const CostBatch& batch);

  struct Standard {
    torch::Tensor mean;   // [columns]
    torch::Tensor scale;  // [columns]
  };
  struct Head {
    torch::nn::Linear kernel{nullptr};  // [K] to [hidden]
    torch::nn::Linear config{nullptr};  // joined late, if there are features
    torch::nn::Linear hidden{nullptr};  // [hidden] to [hidden]
    torch::nn::Linear output{nullptr};
    Standard target;  // one column: how outputs are scaled
    // What predictions from the inputs h of the last layer deviate by:
    // sqrt(noise[0] + noise[1] · |spread (h - center)|²).
    torch::Tensor center;  // [hidden]
    torch::Tensor spread;  // [hidden, hidden]
    torch::Tensor noise;   // [2]
  };

  // The input standards. They start as mean 0 and scale 1.
  Standard nodes, edges, globals, configs;

  const NodeEncoder& encoder() const { return encoder_; }
  // The kinds and ranges of the training's inputs.
  const KnownInputs& known() const { return known_; }
  void set_known(KnownInputs known) { known_ = std::move(known); }
  std::vector<Head>& heads() { return heads_; }
  const std::vector<Head>& heads() const { return heads_; }
  const CostOptions& options() const { return options_; }

 private:
  Standard MakeStandard(const std::string& name, int64_t columns);

  const CostOptions options_;
  NodeEncoder encoder_{nullptr};
  NodeLstm sequence_{nullptr};            // with encoder=sequence
  NodeLstm lstm_{nullptr};                // with reduction=lstm
  NodeTransformer transformer_{nullptr};  // with reduction=transformer
  std::vector<Head> heads_;
  KnownInputs known_;
};
TORCH_MODULE(CostNetwork);

}  // namespace hone::learning

#endif  // HONE_LEARNING_NETWORKS_COST_NETWORK_H_
