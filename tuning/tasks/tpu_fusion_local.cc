#include "tuning/tasks/tpu_fusion_local.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "hlo/fusion/kernel_rules.h"
#include "tuning/tasks/tpu_fusion_cost.h"

namespace hone::tuning {
namespace {

using hlo::FusionIndex;

// The shares of moves that swap a layout, and that move a border.
constexpr double kLayoutMoves = 0.2;
constexpr double kBorderMoves = 0.25;
// Moves drawn until one is legal.
constexpr int kDraws = 16;

class TpuFusionLocal final : public space::LocalState {
 public:
  TpuFusionLocal(const hlo::FusionSpace& space, TpuKernelTimes& times,
                 std::shared_ptr<std::atomic<int64_t>> evaluations,
                 hlo::FusionBits fused, hlo::LayoutBits layouts)
      : space_(space),
        rules_(space),
        times_(times),
        evaluations_(std::move(evaluations)),
        fused_(std::move(fused)),
        layouts_(std::move(layouts)),
        variable_of_(space.size(), -1) {
    for (const FusionIndex node : space.fusible()) {
      variable_of_[static_cast<size_t>(node)] =
          static_cast<int32_t>(values_.size());
      values_.push_back(fused_[static_cast<size_t>(node)]);
    }
    for (const FusionIndex node : space.swappable()) {
      values_.push_back(layouts_[static_cast<size_t>(node)]);
    }
    std::vector<FusionIndex> all(space.size());
    std::iota(all.begin(), all.end(), 0);
    FindParts(all, parts_);
    total_ = Sum(parts_);
  }

  absl::Span<const int32_t> values() const override { return values_; }
  space::LocalScore score() const override { return ScoreOf(total_); }

  space::LocalScore Try(absl::Span<const space::Change> changes) override {
    ++*evaluations_;
    tried_.assign(changes.begin(), changes.end());
    touched_.clear();
    for (const space::Change& change : tried_) Touch(NodeOf(change.variable));
    const std::vector<uint8_t> before = Set(tried_);
    for (const space::Change& change : tried_) Touch(NodeOf(change.variable));
    std::sort(touched_.begin(), touched_.end());
    touched_.erase(std::unique(touched_.begin(), touched_.end()),
                   touched_.end());
    FindParts(touched_, tried_parts_);
    tried_total_ = total_;
    for (size_t i = 0; i < touched_.size(); ++i) {
      const Part& old = parts_[static_cast<size_t>(touched_[i])];
      tried_total_.ns += tried_parts_[i].ns - old.ns;
      tried_total_.faults += tried_parts_[i].faults - old.faults;
    }
    Restore(tried_, before);
    return ScoreOf(tried_total_);
  }

  void Commit() override {
    Set(tried_);
    for (const space::Change& change : tried_) {
      values_[static_cast<size_t>(change.variable)] = change.value;
    }
    for (size_t i = 0; i < touched_.size(); ++i) {
      parts_[static_cast<size_t>(touched_[i])] = tried_parts_[i];
    }
    tried_.clear();
    touched_.clear();
    tried_parts_.clear();
    // Summed anew, so that no rounding adds up.
    total_ = Sum(parts_);
  }

  void Propose(Rng& rng, std::vector<space::Change>& changes) override {
    for (int draw = 0; draw < kDraws; ++draw) {
      changes.clear();
      const bool swaps =
          !space_.swappable().empty() &&
          (space_.fusible().empty() || rng.Uniform() < kLayoutMoves);
      if (swaps) {
        ProposeLayout(rng, changes);
      } else {
        ProposeFusion(rng, changes);
      }
      if (!changes.empty()) return;
    }
    changes.clear();
  }

 private:
  // The part of cost and violation that a node has.
  struct Part {
    double ns = 0;
    int64_t faults = 0;
  };

  static space::LocalScore ScoreOf(const Part& total) {
    const double ns = std::max(0.0, total.ns);
    return {{static_cast<double>(total.faults), ns}, ns};
  }
  static Part Sum(absl::Span<const Part> parts) {
    Part sum;
    for (const Part& part : parts) {
      sum.ns += part.ns;
      sum.faults += part.faults;
    }
    return sum;
  }
  // Replaces `parts` with those of `nodes`. A kernel that cannot be timed now
  // counts as a fault: the search does not go there, and what it measures next
  // tells it the error.
  void FindParts(absl::Span<const FusionIndex> nodes,
                 std::vector<Part>& parts) {
    TpuKernelTimes::Batch batch(times_);
    std::vector<NodeQuestion> questions;
    questions.reserve(nodes.size());
    for (const FusionIndex node : nodes) {
      questions.push_back(AskAboutNode(rules_, node, fused_, layouts_, batch));
    }
    batch.Ask().IgnoreError();
    parts.clear();
    for (const NodeQuestion& question : questions) {
      const NodeCost cost = CostOf(question, space_, batch);
      parts.push_back({cost.ns, cost.fault.empty() ? 0 : 1});
    }
  }

  bool IsFusion(int32_t variable) const {
    return static_cast<size_t>(variable) < space_.fusible().size();
  }
  FusionIndex NodeOf(int32_t variable) const {
    const auto at = static_cast<size_t>(variable);
    return IsFusion(variable)
               ? space_.fusible()[at]
               : space_.swappable()[at - space_.fusible().size()];
  }
  uint8_t& BitOf(int32_t variable) {
    const auto node = static_cast<size_t>(NodeOf(variable));
    return IsFusion(variable) ? fused_[node] : layouts_[node];
  }

  // Makes changes and returns what was before.
  std::vector<uint8_t> Set(absl::Span<const space::Change> changes) {
    std::vector<uint8_t> before;
    for (const space::Change& change : changes) {
      uint8_t& bit = BitOf(change.variable);
      before.push_back(bit);
      bit = static_cast<uint8_t>(change.value);
    }
    return before;
  }
  void Restore(absl::Span<const space::Change> changes,
               absl::Span<const uint8_t> before) {
    for (size_t i = 0; i < changes.size(); ++i) {
      BitOf(changes[i].variable) = before[i];
    }
  }

  // Adds the nodes whose part the decision about `node` is part of: `node`, the
  // roots of the kernels that compute or read it, and what these compute.
  void Touch(FusionIndex node) {
    std::vector<FusionIndex> roots = rules_.RootsAbove(node, fused_);
    roots.push_back(node);
    for (const FusionIndex root : roots) {
      const std::vector<FusionIndex>& members =
          rules_.MembersOf(root, fused_).nodes;
      touched_.insert(touched_.end(), members.begin(), members.end());
    }
  }

  void ProposeLayout(Rng& rng, std::vector<space::Change>& changes) {
    const size_t i = rng.Below(space_.swappable().size());
    const FusionIndex node = space_.swappable()[i];
    if (fused_[static_cast<size_t>(node)] != hlo::kOwnKernel) return;
    const auto variable = static_cast<int32_t>(space_.fusible().size() + i);
    changes.push_back({variable, 1 - BitOf(variable)});
  }

  // Leaves `changes` empty if what it draws is not legal.
  void ProposeFusion(Rng& rng, std::vector<space::Change>& changes) {
    const auto variable =
        static_cast<int32_t>(rng.Below(space_.fusible().size()));
    const FusionIndex node = NodeOf(variable);
    changes.push_back({variable, 1 - BitOf(variable)});
    if (rng.Uniform() < kBorderMoves) {
      // A neighbor that is decided otherwise.
      const absl::Span<const FusionIndex> next =
          rng.Below(2) == 0 ? space_.producers(node) : space_.consumers(node);
      if (next.empty()) return changes.clear();
      const FusionIndex other = next[rng.Below(next.size())];
      const int32_t its = variable_of_[static_cast<size_t>(other)];
      if (its < 0 || BitOf(its) == BitOf(variable)) return changes.clear();
      changes.push_back({its, 1 - BitOf(its)});
    }
    const std::vector<uint8_t> before = Set(changes);
    bool is_legal = true;
    for (const space::Change& change : changes) {
      is_legal =
          is_legal && rules_.IsLegalAround(NodeOf(change.variable), fused_);
    }
    Restore(changes, before);
    if (!is_legal) changes.clear();
  }

  const hlo::FusionSpace& space_;
  hlo::KernelRules rules_;
  TpuKernelTimes& times_;
  const std::shared_ptr<std::atomic<int64_t>> evaluations_;
  hlo::FusionBits fused_;
  hlo::LayoutBits layouts_;
  std::vector<int32_t> variable_of_;  // that fuses the node. [nodes]
  std::vector<int32_t> values_;
  std::vector<Part> parts_;  // [nodes]
  Part total_;
  // Of the last Try.
  std::vector<space::Change> tried_;
  std::vector<FusionIndex> touched_;
  std::vector<Part> tried_parts_;  // [touched_]
  Part tried_total_;
};

}  // namespace

std::unique_ptr<space::LocalState> MakeTpuFusionLocal(
    const hlo::FusionSpace& space, TpuKernelTimes& times,
    std::shared_ptr<std::atomic<int64_t>> evaluations, hlo::FusionBits fused,
    hlo::LayoutBits layouts) {
  return std::make_unique<TpuFusionLocal>(space, times, std::move(evaluations),
                                          std::move(fused), std::move(layouts));
}

}  // namespace hone::tuning
