#include "learning/networks/placer_network.h"

#include <tuple>
#include <vector>

#include "learning/networks/losses.h"

namespace hone::learning {
namespace {

constexpr int64_t kGrouperWidth = 64;
// Of each direction of the encoder.
constexpr int64_t kEncoderWidth = 64;
constexpr int64_t kDecoderWidth = 2 * kEncoderWidth;
constexpr int64_t kEmbeddingWidth = 16;

// Logits are within -kBound … kBound, so that a policy that is sure goes on
// trying something else now and then: 1 of 149 times where there are two
// devices. Without a bound all groups soon are on one device for good.
constexpr double kBound = 2.5;

torch::Tensor Bound(const torch::Tensor& logits) {
  return kBound * torch::tanh(logits / (2 * kBound));
}

}  // namespace

PlacerNetworkImpl::PlacerNetworkImpl(int64_t kinds, int64_t features,
                                     int64_t groups, int64_t devices)
    : begin_(devices) {
  using torch::nn::Embedding;
  using torch::nn::Linear;
  using torch::nn::LinearOptions;
  // A dense layer of the kind, one-hot, and of the features.
  hidden_of_kind_ =
      register_module("hidden_of_kind", Embedding(kinds, kGrouperWidth));
  hidden_ = register_module("hidden", Linear(features, kGrouperWidth));
  group_ = register_module("group", Linear(kGrouperWidth, groups));
  kind_ = register_module(
      "kind", Linear(LinearOptions(kinds, kEmbeddingWidth).bias(false)));
  encoder_ = register_module(
      "encoder", torch::nn::LSTM(
                     torch::nn::LSTMOptions(
                         kEmbeddingWidth + features + 1 + groups, kEncoderWidth)
                         .bidirectional(true)
                         .batch_first(true)));
  device_ = register_module("device", Embedding(devices + 1, kEmbeddingWidth));
  decoder_ = register_module(
      "decoder",
      torch::nn::LSTMCell(kEmbeddingWidth + 2 * kEncoderWidth, kDecoderWidth));
  query_ = register_module("query", Linear(kDecoderWidth, kDecoderWidth));
  key_ = register_module(
      "key",
      Linear(LinearOptions(2 * kEncoderWidth, kDecoderWidth).bias(false)));
  energy_ = register_module(
      "energy", Linear(LinearOptions(kDecoderWidth, 1).bias(false)));
  output_ = register_module("output",
                            Linear(kDecoderWidth + 2 * kEncoderWidth, devices));
}

torch::Tensor PlacerNetworkImpl::Group(const torch::Tensor& kinds,
                                       const torch::Tensor& features) {
  return Bound(group_->forward(torch::relu(hidden_of_kind_->forward(kinds) +
                                           hidden_->forward(features))));
}

torch::Tensor PlacerNetworkImpl::Place(
    const GroupRows& rows, double temperature,
    absl::FunctionRef<torch::Tensor(int64_t, const torch::Tensor&)> choose) {
  const auto [encoded, last] = encoder_->forward(
      torch::cat({kind_->forward(rows.kinds), rows.features}, 2));
  const auto join = [](const torch::Tensor& directions) {
    return torch::cat({directions[0], directions[1]}, 1);
  };
  std::tuple<torch::Tensor, torch::Tensor> state = {join(std::get<0>(last)),
                                                    join(std::get<1>(last))};
  const torch::Tensor keys = key_->forward(encoded);
  const int64_t batch = encoded.size(0);
  torch::Tensor previous = torch::full({batch}, begin_, torch::kInt64);
  std::vector<torch::Tensor> steps;
  for (int64_t s = 0; s < rows.count; ++s) {
    const torch::Tensor energies =
        energy_
            ->forward(torch::tanh(
                query_->forward(std::get<0>(state)).unsqueeze(1) + keys))
            .squeeze(2);
    const torch::Tensor context =
        torch::bmm(
            torch::exp(MaskedLogSoftmax(energies, rows.present)).unsqueeze(1),
            encoded)
            .squeeze(1);
    state = decoder_->forward(
        torch::cat({device_->forward(previous), context}, 1), state);
    steps.push_back(torch::log_softmax(
        Bound(output_->forward(torch::cat({std::get<0>(state), context}, 1))) /
            temperature,
        1));
    previous = choose(s, steps.back());
  }
  return torch::stack(steps, 1);
}

}  // namespace hone::learning
