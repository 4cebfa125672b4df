#ifndef HONE_LEARNING_NETWORKS_MINIBATCH_H_
#define HONE_LEARNING_NETWORKS_MINIBATCH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include <torch/torch.h>

#include "base/rng.h"
#include "learning/games/game.h"

namespace hone::learning {

// Nodes of distinct graphs that one forward pass sees, for memory's sake.
inline constexpr size_t kNodesPerPart = 12000;
// Views likewise.
inline constexpr size_t kViewsPerPart = 64;

// Returns the indices of `views` in parts that fit in memory. Views of one
// state share its graph when they meet in a part, so states stay together, in
// the order of their first views.
std::vector<std::vector<size_t>> MemoryParts(
    absl::Span<const View* const> views);

// Returns the numbers 0 … `count`-1 in random order, in minibatches of at most
// `size`.
std::vector<std::vector<size_t>> Minibatches(size_t count, size_t size,
                                             Rng& rng);

// Returns get(i) for each index as a tensor [indices].
template <typename F>
torch::Tensor Column(absl::Span<const size_t> indices, F get) {
  torch::Tensor column =
      torch::empty({static_cast<int64_t>(indices.size())}, torch::kFloat32);
  auto out = column.accessor<float, 1>();
  for (size_t i = 0; i < indices.size(); ++i) {
    out[static_cast<int64_t>(i)] = get(indices[i]);
  }
  return column;
}

// Returns get(i), an index of a column, for each index: [indices, 1] int64.
template <typename F>
torch::Tensor IndexColumn(absl::Span<const size_t> indices, F get) {
  torch::Tensor column =
      torch::empty({static_cast<int64_t>(indices.size()), 1}, torch::kInt64);
  auto out = column.accessor<int64_t, 2>();
  for (size_t i = 0; i < indices.size(); ++i) {
    out[static_cast<int64_t>(i)][0] = get(indices[i]);
  }
  return column;
}

}  // namespace hone::learning

#endif  // HONE_LEARNING_NETWORKS_MINIBATCH_H_
