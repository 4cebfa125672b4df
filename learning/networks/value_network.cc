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
  if (spec.move_features.empty()) return;
  move_head_.features = register_module(
      "move_features",
      Linear(static_cast<int64_t>(spec.move_features.size()), width));
  move_head_.hidden = register_module("move_hidden", Linear(2 * width, width));
  move_head_.score = register_module("move_score", Linear(width, 1));
  torch::NoGradGuard no_grad;
  move_head_.score->weight.zero_();
  move_head_.score->bias.zero_();
}

void ValueNetworkImpl::Select(const AssignmentMatch& match) {
  encoder_->Select(match);
  for (size_t g = 0; g < heads_.size(); ++g) {
    SelectColumns(heads_[g].value, 0, match.value_features[g], 1);
    SelectColumns(heads_[g].features, 0, match.state_features, 0);
  }
  if (!move_head_.features.is_empty()) {
    SelectColumns(move_head_.features, 0, match.move_features, 0);
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

torch::Tensor ValueNetworkImpl::EmbedValues(
    size_t group, const torch::Tensor& value_features) {
  Head& head = heads_[group];
  const int64_t values = value_features.size(0);
  return head.value->forward(
             torch::cat({value_features, torch::ones({values, 1})}, 1)) +
         head.number->weight.narrow(0, 0, values);
}

torch::Tensor ValueNetworkImpl::ScoreMoves(const MoveRows& rows,
                                           const ValueEncoding& encoding) {
  const int64_t count = rows.features.size(0);
  torch::Tensor changed =
      torch::zeros({count, encoding.graphs.size(1)}, torch::kFloat32);
  for (size_t g = 0; g < heads_.size(); ++g) {
    const MoveRows::Changes& changes = rows.groups[g];
    if (changes.moves.size(0) == 0) continue;
    const torch::Tensor nodes = heads_[g].node->forward(
        encoding.nodes[g].index_select(0, changes.nodes));
    const torch::Tensor values =
        EmbedValues(g, rows.value_features[g]).index_select(0, changes.values);
    changed = changed.index_add(0, changes.moves, torch::relu(nodes + values));
  }
  const torch::Tensor move = torch::relu(torch::cat(
      {changed / rows.counts, move_head_.features->forward(rows.features)}, 1));
  const torch::Tensor hidden = torch::relu(move_head_.hidden->forward(move));
  return move_head_.score
      ->forward(conditioning_->forward(
          hidden, encoding.graphs.expand({count, hidden.size(1)})))
      .squeeze(1);
}

torch::Tensor ValueNetworkImpl::Score(const ValueRows& rows,
                                      const ValueEncoding& encoding) {
  Head& head = heads_[rows.group];
  const torch::Tensor value = EmbedValues(rows.group, rows.value_features);
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
