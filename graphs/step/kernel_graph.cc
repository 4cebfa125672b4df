#include "graphs/step/kernel_graph.h"

#include <algorithm>
#include <utility>

#include "graphs/hlo_import.h"

namespace hone::graphs {

KernelGraph::KernelGraph(FusionRules& rules, absl::Span<const uint8_t> fused,
                         const DeviceTimes& times) {
  const OpGraph& graph = rules.graph();
  kernel_of_.assign(graph.size(), kFused);
  for (size_t i = 0; i < graph.size(); ++i) {
    if (fused[i] != 0) continue;
    kernel_of_[i] = static_cast<KernelIndex>(roots_.size());
    roots_.push_back(static_cast<NodeIndex>(i));
  }
  // The weights of a node, once some kernel holds them.
  constexpr uint32_t kNone = ~uint32_t{0};
  std::vector<uint32_t> weights_of_node(graph.size(), kNone);
  std::vector<std::pair<KernelIndex, double>> reads;
  input_begin_ = {0};
  held_begin_ = {0};
  for (size_t k = 0; k < roots_.size(); ++k) {
    const NodeIndex root = roots_[k];
    const KernelCost cost = rules.Cost(root, fused);
    const OpNode& node = graph.node(root);
    flops_.push_back(cost.flops);
    bytes_.push_back(cost.bytes);
    output_bytes_.push_back(
        node.opcode == kParameterOpcode ? 0 : node.output_bytes);
    is_output_.push_back(node.is_output);
    reads.clear();
    for (const NodeIndex member : rules.members()) {
      const absl::Span<const NodeIndex> before =
          graph.adjacency().predecessors(member);
      for (size_t i = 0; i < before.size(); ++i) {
        if (fused[before[i]] != 0) continue;
        reads.emplace_back(kernel_of_[before[i]], rules.input_bytes(member, i));
      }
      const double weights = graph.node(member).parameter_bytes;
      if (weights == 0) continue;
      uint32_t& number = weights_of_node[member];
      if (number == kNone) {
        number = static_cast<uint32_t>(weights_.size());
        weights_.push_back({weights, {}});
      }
      weights_[number].kernels.push_back(static_cast<KernelIndex>(k));
      held_.push_back(number);
    }
    std::sort(reads.begin(), reads.end());
    for (size_t i = 0; i < reads.size(); ++i) {
      // The last of several reads is the largest.
      if (i + 1 < reads.size() && reads[i].first == reads[i + 1].first) {
        continue;
      }
      inputs_.push_back(reads[i].first);
      input_bytes_.push_back(reads[i].second);
    }
    input_begin_.push_back(inputs_.size());
    held_begin_.push_back(held_.size());
  }
  use_begin_.assign(size() + 1, 0);
  for (const KernelIndex source : inputs_) ++use_begin_[source + size_t{1}];
  for (size_t k = 0; k < size(); ++k) use_begin_[k + 1] += use_begin_[k];
  uses_.resize(inputs_.size());
  std::vector<size_t> next(use_begin_.begin(), use_begin_.end() - 1);
  for (size_t k = 0; k < size(); ++k) {
    for (size_t i = input_begin_[k]; i < input_begin_[k + 1]; ++i) {
      uses_[next[inputs_[i]]++] = {static_cast<KernelIndex>(k),
                                   static_cast<uint32_t>(i), input_bytes_[i]};
    }
  }
  for (const NodeIndex node : graph.topological_order()) {
    if (fused[node] == 0) order_.push_back(kernel_of_[node]);
  }
  seconds_.reserve(times.kind_count() * size());
  for (size_t kind = 0; kind < times.kind_count(); ++kind) {
    for (size_t k = 0; k < size(); ++k) {
      seconds_.push_back(times.KernelSeconds(kind, flops_[k], bytes_[k]));
    }
  }
}

}  // namespace hone::graphs
