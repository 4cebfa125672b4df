#include "learning/networks/tensors.h"

namespace hone::learning {
namespace {

template <typename T>
torch::Tensor Copy(const std::vector<T>& values, torch::IntArrayRef shape,
                   torch::ScalarType from, torch::ScalarType to) {
  if (values.empty()) return torch::zeros(shape, to);
  // from_blob needs a pointer to mutable data but does not write; the copy that
  // `to` or `clone` makes outlives `values`.
  torch::Tensor view =
      torch::from_blob(const_cast<T*>(values.data()), shape, from);
  return from == to ? view.clone() : view.to(to);
}

}  // namespace

torch::Tensor Ids(const std::vector<int32_t>& values,
                  torch::IntArrayRef shape) {
  return Copy(values, shape, torch::kInt32, torch::kInt64);
}

torch::Tensor Numbers(const std::vector<float>& values,
                      torch::IntArrayRef shape) {
  return Copy(values, shape, torch::kFloat32, torch::kFloat32);
}

}  // namespace hone::learning
