#include <queue>
#include <vector>

#include "graphs/step/fusions.h"

namespace hone::graphs {
namespace {

class PriorityFusion {
 public:
  PriorityFusion(FusionRules& rules, const DeviceTimes& times)
      : rules_(rules),
        times_(times),
        graph_(rules.graph()),
        fused_(graph_.size()),
        seconds_(graph_.size()),
        version_(graph_.size()) {}

  Fusion Run() {
    for (size_t i = 0; i < graph_.size(); ++i) {
      seconds_[i] = Seconds(static_cast<NodeIndex>(i));
    }
    for (size_t i = 0; i < graph_.size(); ++i) {
      const auto node = static_cast<NodeIndex>(i);
      if (rules_.is_cheap(node)) FuseCheap(node);
    }
    for (size_t i = 0; i < graph_.size(); ++i) {
      Enqueue(static_cast<NodeIndex>(i));
    }
    while (!queue_.empty()) {
      const Entry entry = queue_.top();
      queue_.pop();
      if (entry.version != version_[entry.node]) continue;
      if (!rules_.Fuse(entry.node, fused_)) continue;
      for (const NodeIndex root : rules_.KernelsOf(entry.node, fused_)) {
        seconds_[root] = Seconds(root);
        EnqueueInputs(root);
        Enqueue(root);
      }
    }
    return fused_;
  }

 private:
  struct Entry {
    double saved;
    NodeIndex node;
    uint32_t version;

    friend bool operator<(const Entry& a, const Entry& b) {
      return a.saved != b.saved ? a.saved < b.saved : a.node > b.node;
    }
  };

  double Seconds(NodeIndex root) {
    const KernelCost cost = rules_.Cost(root, fused_);
    return times_.KernelSeconds(0, cost.flops, cost.bytes);
  }

  // Fuses a node that costs nothing to compute again unless its users, a
  // reshape for example, were free without it.
  void FuseCheap(NodeIndex node) {
    if (!rules_.Fuse(node, fused_)) return;
    double saved = seconds_[node];
    const std::vector<NodeIndex> kernels = rules_.KernelsOf(node, fused_);
    for (const NodeIndex root : kernels)
      saved += seconds_[root] - Seconds(root);
    if (saved < 0) {
      fused_[node] = 0;
      return;
    }
    for (const NodeIndex root : kernels) seconds_[root] = Seconds(root);
  }

  // Enqueues the kernels that the kernel of `root` reads.
  void EnqueueInputs(NodeIndex root) {
    rules_.Cost(root, fused_);
    const std::vector<NodeIndex> members(rules_.members().begin(),
                                         rules_.members().end());
    for (const NodeIndex member : members) {
      for (const NodeIndex before : graph_.adjacency().predecessors(member)) {
        Enqueue(before);
      }
    }
  }

  // Gives a node its place by what its fusion saves now.
  void Enqueue(NodeIndex node) {
    if (fused_[node] != 0 || !rules_.may_fuse(node) || rules_.is_cheap(node)) {
      return;
    }
    ++version_[node];
    const std::vector<NodeIndex> kernels = rules_.KernelsOf(node, fused_);
    if (!rules_.MayRepeat(node, kernels)) return;
    for (const NodeIndex root : kernels) {
      if (!rules_.may_consume(root)) return;
    }
    double saved = seconds_[node];
    fused_[node] = 1;
    for (const NodeIndex root : kernels)
      saved += seconds_[root] - Seconds(root);
    fused_[node] = 0;
    if (saved > 0) queue_.push({saved, node, version_[node]});
  }

  FusionRules& rules_;
  const DeviceTimes& times_;
  const OpGraph& graph_;
  Fusion fused_;
  std::vector<double> seconds_;    // of the kernel of each root
  std::vector<uint32_t> version_;  // of each node's place in the queue
  std::priority_queue<Entry> queue_;
};

}  // namespace

Fusion FuseByPriority(FusionRules& rules, const DeviceTimes& times) {
  return PriorityFusion(rules, times).Run();
}

}  // namespace hone::graphs
