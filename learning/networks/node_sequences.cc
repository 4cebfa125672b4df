#include "learning/networks/node_sequences.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace hone::learning {
namespace {

constexpr int64_t kSegment = 256;

}  // namespace

NodeLstmImpl::NodeLstmImpl(int64_t width, int64_t layers) : width_(width) {
  lstm_ = register_module("lstm",
                          torch::nn::LSTM(torch::nn::LSTMOptions(width, width)
                                              .num_layers(layers)
                                              .batch_first(true)));
}

NodeLstmImpl::Output NodeLstmImpl::forward(const torch::Tensor& nodes,
                                           const GraphBatch& batch) {
  namespace rnn = torch::nn::utils::rnn;
  const int64_t count = nodes.size(0);
  const auto graphs = static_cast<int64_t>(batch.first_nodes.size()) - 1;
  if (count == 0) return {nodes, torch::zeros({graphs, width_})};
  int64_t longest = 1;
  std::vector<int64_t> lengths;
  for (size_t g = 0; g + 1 < batch.first_nodes.size(); ++g) {
    // A sequence without elements is an error, so it gets a row of zeros.
    lengths.push_back(
        std::max<int64_t>(batch.first_nodes[g + 1] - batch.first_nodes[g], 1));
    longest = std::max(longest, lengths.back());
  }
  std::vector<int64_t> rows, places, last;
  for (size_t g = 0; g + 1 < batch.first_nodes.size(); ++g) {
    const int64_t first = batch.first_nodes[g];
    const int64_t size = batch.first_nodes[g + 1] - first;
    const auto row = static_cast<int64_t>(g) * longest;
    for (int64_t i = 0; i < longest; ++i) {
      rows.push_back(i < size ? first + i : count);
      if (i < size) places.push_back(row + i);
    }
    // The row after all others is 0.
    last.push_back(size > 0 ? row + size - 1 : graphs * longest);
  }
  const auto indices = [](const std::vector<int64_t>& of) {
    return torch::tensor(of, torch::kInt64);
  };
  const torch::Tensor padded = torch::cat({nodes, torch::zeros({1, width_})})
                                   .index_select(0, indices(rows))
                                   .view({graphs, longest, width_});
  const auto packed =
      rnn::pack_padded_sequence(padded, indices(lengths), /*batch_first=*/true,
                                /*enforce_sorted=*/false);
  const torch::Tensor outputs =
      std::get<0>(rnn::pad_packed_sequence(
                      std::get<0>(lstm_->forward_with_packed_input(packed)),
                      /*batch_first=*/true, 0, longest))
          .reshape({graphs * longest, width_});
  return {outputs.index_select(0, indices(places)),
          torch::cat({outputs, torch::zeros({1, width_})})
              .index_select(0, indices(last))};
}

NodeTransformerImpl::NodeTransformerImpl(int64_t width) {
  using torch::nn::LayerNorm;
  using torch::nn::LayerNormOptions;
  using torch::nn::Linear;
  attention_ = register_module("attention", SegmentAttention(width, kSegment));
  norm_ = register_module("norm", LayerNorm(LayerNormOptions({width})));
  wide_ = register_module("wide", Linear(width, 2 * width));
  narrow_ = register_module("narrow", Linear(2 * width, width));
}

torch::Tensor NodeTransformerImpl::forward(const torch::Tensor& nodes,
                                           const GraphBatch& batch) {
  const torch::Tensor mixed = attention_->forward(nodes, batch);
  return mixed +
         narrow_->forward(torch::relu(wide_->forward(norm_->forward(mixed))));
}

}  // namespace hone::learning
