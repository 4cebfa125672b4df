#include "learning/networks/segment_attention.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace hone::learning {
namespace {

constexpr int64_t kHeads = 4;
// Segments whose attention is computed at a time, for memory's sake.
constexpr int64_t kSegmentsPerStep = 32;

// The nodes as rows of equal length.
struct Segments {
  torch::Tensor rows;     // [S, L] int64: nodes, N where there is none
  torch::Tensor before;   // [S] int64: the segment before, or itself
  torch::Tensor follows;  // [S] bool: whether there is one before
};

Segments Cut(const GraphBatch& batch, int64_t length) {
  std::vector<int64_t> rows, before;
  std::vector<uint8_t> follows;
  const int64_t none = batch.first_nodes.back();
  for (size_t g = 0; g + 1 < batch.first_nodes.size(); ++g) {
    const int64_t first = batch.first_nodes[g];
    const int64_t end = batch.first_nodes[g + 1];
    for (int64_t begin = first; begin < end; begin += length) {
      const auto segment = static_cast<int64_t>(before.size());
      before.push_back(begin > first ? segment - 1 : segment);
      follows.push_back(begin > first ? 1 : 0);
      for (int64_t i = begin; i < begin + length; ++i) {
        rows.push_back(i < end ? i : none);
      }
    }
  }
  const auto count = static_cast<int64_t>(before.size());
  return {torch::tensor(rows, torch::kInt64).view({count, length}),
          torch::tensor(before, torch::kInt64),
          torch::tensor(follows, torch::kUInt8).to(torch::kBool)};
}

}  // namespace

SegmentAttentionImpl::SegmentAttentionImpl(int64_t width, int64_t segment)
    : width_(width), segment_(segment) {
  using torch::nn::LayerNorm;
  using torch::nn::LayerNormOptions;
  using torch::nn::Linear;
  norm_ = register_module("norm", LayerNorm(LayerNormOptions({width})));
  queries_ = register_module("queries", Linear(width, width));
  keys_ = register_module("keys", Linear(width, width));
  values_ = register_module("values", Linear(width, width));
  merge_ = register_module("merge", Linear(width, width));
}

torch::Tensor SegmentAttentionImpl::forward(const torch::Tensor& nodes,
                                            const GraphBatch& batch) {
  const int64_t count = nodes.size(0);
  if (count == 0) return nodes;
  // A short graph needs no long rows.
  int64_t longest = 1;
  for (size_t g = 0; g + 1 < batch.first_nodes.size(); ++g) {
    longest =
        std::max(longest, batch.first_nodes[g + 1] - batch.first_nodes[g]);
  }
  const int64_t length = std::min(segment_, longest);
  const Segments segments = Cut(batch, length);
  const int64_t rows = segments.rows.size(0);
  const int64_t size = width_ / kHeads;
  const torch::Tensor padded =
      torch::cat({norm_->forward(nodes), torch::zeros({1, width_})});
  const torch::Tensor inside = segments.rows.ne(count);  // [S, L]

  std::vector<torch::Tensor> outputs;
  for (int64_t first = 0; first < rows; first += kSegmentsPerStep) {
    const int64_t step = std::min(kSegmentsPerStep, rows - first);
    const auto gather = [&](const torch::Tensor& of) {
      return padded.index_select(0, of.reshape({-1})).view({step, -1, width_});
    };
    const auto heads = [&](const torch::Tensor& x) {  // [S, heads, ·, size]
      return x.view({step, -1, kHeads, size}).transpose(1, 2);
    };
    const torch::Tensor here = segments.rows.narrow(0, first, step);
    const torch::Tensor before = segments.before.narrow(0, first, step);
    const torch::Tensor follows =
        segments.follows.narrow(0, first, step).unsqueeze(1);
    const torch::Tensor current = gather(here);
    const torch::Tensor context = torch::cat(
        {gather(segments.rows.index_select(0, before)).detach(), current}, 1);
    const torch::Tensor visible =
        torch::cat({inside.index_select(0, before).logical_and(follows),
                    inside.narrow(0, first, step)},
                   1);
    const torch::Tensor scores =
        torch::matmul(heads(queries_->forward(current)),
                      heads(keys_->forward(context)).transpose(2, 3)) /
        std::sqrt(static_cast<double>(size));
    const torch::Tensor weights = torch::softmax(
        scores.masked_fill(visible.logical_not().unsqueeze(1).unsqueeze(1),
                           -std::numeric_limits<float>::infinity()),
        3);
    outputs.push_back(torch::matmul(weights, heads(values_->forward(context)))
                          .transpose(1, 2)
                          .reshape({step * length, width_}));
  }
  // Rows come in the order of the nodes, with what only fills them between.
  const torch::Tensor mixed = torch::cat(outputs).index_select(
      0, inside.reshape({-1}).nonzero().squeeze(1));
  return nodes + merge_->forward(mixed);
}

}  // namespace hone::learning
