#include "learning/networks/value_network.h"

#include <string>

#include "absl/strings/str_cat.h"

#include "learning/networks/matched_weights.h"

namespace hone::learning {

using torch::nn::Embedding;
using torch::nn::Linear;

namespace {

// Nodes of a segment of the heads' attention if the encoder has none.
constexpr int64_t kHeadSegment = 128;

}  // namespace

ValueNetworkImpl::ValueNetworkImpl(const AssignmentSpec& spec,
                                   const EncoderOptions& options) {
  const int64_t width = options.width;
  encoder_ =
      register_module("encoder", GraphEncoder(spec.observation, options));
  if (options.task_heads) {
    std::vector<std::string> names;
    for (const AssignmentSpec::Group& group : spec.groups) {
      names.push_back(group.name);
    }
    task_heads_ = register_module(
        "task_heads",
        TaskHeads(names, width,
                  options.segment > 0 ? options.segment : kHeadSegment));
  }
  conditioning_ = register_module("conditioning", Conditioning(options));
  for (size_t g = 0; g < spec.groups.size(); ++g) {
    const auto name = [&](const char* part) {
      return absl::StrCat(spec.groups[g].name, "_", part);
    };
    const auto described =
        static_cast<int64_t>(spec.groups[g].value_feature_names.size());
    Head head;
    head.node = register_module(name("node"), Linear(width, width));
    // One more than there are, as a layer without inputs is an error.
    head.value = register_module(name("value"), Linear(described + 1, width));
    head.number =
        register_module(name("number"), Embedding(space::kMaxValues, width));
    head.features =
        register_module(name("features"), Linear(kValueFeatures, width));
    head.hidden = register_module(name("hidden"), Linear(width, width));
    head.score = register_module(name("score"), Linear(width, 1));
    torch::NoGradGuard no_grad;
    head.number->weight.mul_(0.3);
    head.score->weight.zero_();
    head.score->bias.zero_();
    heads_.push_back(head);
  }
}

void ValueNetworkImpl::Select(const AssignmentMatch& match) {
  encoder_->Select(match);
  for (size_t g = 0; g < heads_.size(); ++g) {
    SelectColumns(heads_[g].value, 0, match.value_features[g], 1);
    SelectColumns(heads_[g].features, 0, match.state_features, 0);
  }
}

ValueEncoding ValueNetworkImpl::Encode(const GraphBatch& batch) {
  Encoding encoding = encoder_->forward(batch);
  if (task_heads_.is_empty()) {
    return {std::vector<torch::Tensor>(heads_.size(), encoding.nodes),
            encoding.graphs};
  }
  return {task_heads_->forward(encoding.nodes, batch), encoding.graphs};
}

torch::Tensor ValueNetworkImpl::Score(const ValueRows& rows,
                                      const ValueEncoding& encoding) {
  Head& head = heads_[rows.group];
  const int64_t values = rows.value_features.size(0);
  const torch::Tensor value =
      head.value->forward(
          torch::cat({rows.value_features, torch::ones({values, 1})}, 1)) +
      head.number->weight.narrow(0, 0, values);
  const torch::Tensor nodes = head.node->forward(
      encoding.nodes[rows.group].index_select(0, rows.nodes));
  const torch::Tensor decision =
      torch::relu(nodes.unsqueeze(1) + value.unsqueeze(0) +
                  head.features->forward(rows.features));
  const torch::Tensor hidden = torch::relu(
      head.hidden->forward(conditioning_->forward(decision, encoding.graphs)));
  return head.score->forward(hidden).squeeze(2);
}

}  // namespace hone::learning
