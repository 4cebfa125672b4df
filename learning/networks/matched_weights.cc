#include "learning/networks/matched_weights.h"

#include <algorithm>

namespace hone::learning {
namespace {

// The parameters, then the buffers.
std::vector<torch::Tensor> AllWeights(const torch::nn::Module& network) {
  std::vector<torch::Tensor> all = network.parameters();
  for (const torch::Tensor& buffer : network.buffers()) all.push_back(buffer);
  return all;
}

}  // namespace

torch::Tensor SelectRows(const torch::Tensor& rows,
                         std::vector<int64_t> indices,
                         const torch::Tensor& unknown) {
  std::replace(indices.begin(), indices.end(), kUnknown, rows.size(0));
  return torch::cat({rows, unknown.unsqueeze(0)})
      .index_select(0, torch::tensor(indices, torch::kInt64));
}

void SelectColumns(torch::nn::Linear& layer, int64_t first,
                   const std::vector<int64_t>& indices, int64_t after) {
  const torch::Tensor weight = layer->weight.detach();
  const int64_t count = weight.size(1) - first - after;
  layer->weight.set_data(
      torch::cat({weight.narrow(1, 0, first),
                  SelectRows(weight.narrow(1, first, count).t(), indices,
                             torch::zeros({weight.size(0)}))
                      .t(),
                  weight.narrow(1, first + count, after)},
                 1));
}

void LoadMatched(torch::nn::Module& network,
                 torch::serialize::InputArchive& archive,
                 const std::function<void()>& select) {
  std::vector<std::vector<int64_t>> shapes;
  for (const torch::Tensor& weights : AllWeights(network)) {
    shapes.push_back(weights.sizes().vec());
  }
  // Gives parameters the shapes that they have in the archive.
  network.load(archive);
  {
    torch::NoGradGuard no_grad;
    select();
  }
  const std::vector<torch::Tensor> loaded = AllWeights(network);
  for (size_t i = 0; i < loaded.size(); ++i) {
    TORCH_CHECK(loaded[i].sizes() == torch::IntArrayRef(shapes[i]),
                "a parameter of another shape");
    TORCH_CHECK(loaded[i].isfinite().all().item<bool>(),
                "a parameter that is not finite");
  }
}

}  // namespace hone::learning
