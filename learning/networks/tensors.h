#ifndef HONE_LEARNING_NETWORKS_TENSORS_H_
#define HONE_LEARNING_NETWORKS_TENSORS_H_

#include <cstdint>
#include <vector>

#include <torch/torch.h>

namespace hone::learning {

// Return copies of `values` as tensors of that shape: int64 and float.
torch::Tensor Ids(const std::vector<int32_t>& values, torch::IntArrayRef shape);
torch::Tensor Numbers(const std::vector<float>& values,
                      torch::IntArrayRef shape);

}  // namespace hone::learning

#endif  // HONE_LEARNING_NETWORKS_TENSORS_H_
