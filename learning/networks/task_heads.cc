#include "learning/networks/task_heads.h"

#include "absl/strings/str_cat.h"

namespace hone::learning {

TaskHeadsImpl::TaskHeadsImpl(const std::vector<std::string>& names,
                             int64_t width, int64_t segment) {
  using torch::nn::LayerNorm;
  using torch::nn::LayerNormOptions;
  using torch::nn::Linear;
  for (const std::string& name : names) {
    Head head;
    head.norm = register_module(absl::StrCat(name, "_norm"),
                                LayerNorm(LayerNormOptions({2 * width})));
    head.merge =
        register_module(absl::StrCat(name, "_merge"), Linear(2 * width, width));
    head.attention = register_module(absl::StrCat(name, "_attention"),
                                     SegmentAttention(width, segment));
    head.output =
        register_module(absl::StrCat(name, "_output"), Linear(width, width));
    heads_.push_back(head);
  }
}

std::vector<torch::Tensor> TaskHeadsImpl::forward(const torch::Tensor& nodes,
                                                  const GraphBatch& batch) {
  std::vector<torch::Tensor> outputs;
  torch::Tensor hidden = nodes;
  torch::Tensor output = nodes;
  for (Head& head : heads_) {
    hidden = torch::relu(head.merge->forward(
        head.norm->forward(torch::cat({output, hidden}, 1))));
    output = head.output->forward(head.attention->forward(hidden, batch));
    outputs.push_back(output);
  }
  return outputs;
}

}  // namespace hone::learning
