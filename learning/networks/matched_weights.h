#ifndef HONE_LEARNING_NETWORKS_MATCHED_WEIGHTS_H_
#define HONE_LEARNING_NETWORKS_MATCHED_WEIGHTS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include <torch/torch.h>

#include "learning/networks/spec_match.h"

namespace hone::learning {

// Returns the rows of `rows` at `indices`; `unknown` for kUnknown.
torch::Tensor SelectRows(const torch::Tensor& rows,
                         std::vector<int64_t> indices,
                         const torch::Tensor& unknown);

// Replaces the columns of a dense layer's weights from `first` on by those at
// `indices`, 0 for kUnknown. The `first` columns before and the `after` last
// ones stay.
void SelectColumns(torch::nn::Linear& layer, int64_t first,
                   const std::vector<int64_t>& indices, int64_t after);

// Loads the weights of `archive` into `network` and calls `select`, which
// brings those of matched kinds and features into the network's order.
// Throws c10::Error if they are not weights of this architecture, or not
// finite.
void LoadMatched(torch::nn::Module& network,
                 torch::serialize::InputArchive& archive,
                 const std::function<void()>& select);

}  // namespace hone::learning

#endif  // HONE_LEARNING_NETWORKS_MATCHED_WEIGHTS_H_
