#ifndef HONE_LEARNING_NETWORKS_PLACER_NETWORK_H_
#define HONE_LEARNING_NETWORKS_PLACER_NETWORK_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include <torch/torch.h>

#include "learning/networks/group_rows.h"

namespace hone::learning {

// The two networks of a hierarchical placer: a feed-forward one that assigns
// operators to groups, and a sequence-to-sequence one with additive attention
// that chooses a device for each group.
// Source: Mirhoseini et al., "A Hierarchical Model for Device Placement", 2018.
class PlacerNetworkImpl : public torch::nn::Module {
 public:
  PlacerNetworkImpl(int64_t kinds, int64_t features, int64_t groups,
                    int64_t devices);

  // Returns the logits of the groups of each operator, [N, groups]. kinds: [N]
  // int64, features: [N, features].
  torch::Tensor Group(const torch::Tensor& kinds,
                      const torch::Tensor& features);

  // Returns the logarithms of the probabilities of the devices of each group,
  // [B, S, devices]. choose(s, [B, devices]) returns the devices of the groups
  // at position s, [B] int64, which later ones depend on.
  torch::Tensor Place(
      const GroupRows& rows, double temperature,
      absl::FunctionRef<torch::Tensor(int64_t, const torch::Tensor&)> choose);

 private:
  const int64_t begin_;  // stands for the device before the first
  torch::nn::Embedding hidden_of_kind_{nullptr};
  torch::nn::Linear hidden_{nullptr};
  torch::nn::Linear group_{nullptr};
  torch::nn::Linear kind_{nullptr};
  torch::nn::LSTM encoder_{nullptr};
  torch::nn::Embedding device_{nullptr};
  torch::nn::LSTMCell decoder_{nullptr};
  torch::nn::Linear query_{nullptr};
  torch::nn::Linear key_{nullptr};
  torch::nn::Linear energy_{nullptr};
  torch::nn::Linear output_{nullptr};
};
TORCH_MODULE(PlacerNetwork);

}  // namespace hone::learning

#endif  // HONE_LEARNING_NETWORKS_PLACER_NETWORK_H_
