#include "tuning/tasks/partition_local.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/rng.h"
#include "graphs/mcm/chip_loads.h"
#include "graphs/placement_moves.h"

namespace hone::tuning {
namespace {

using graphs::NodeIndex;

constexpr int kMaxDraws = 16;
// The weight of the loads by the analytical model beside a simulated interval.
constexpr double kLoadWeight = 0.02;

class PartitionLocal final : public space::LocalState {
 public:
  PartitionLocal(const PartitionProblem& problem,
                 absl::Span<const int32_t> chips)
      : problem_(problem),
        graph_(problem.graph()),
        values_(chips.begin(), chips.end()) {
    score_ = Score(values_);
    Gather();
  }

  absl::Span<const int32_t> values() const override { return values_; }
  space::LocalScore score() const override { return score_; }

  space::LocalScore Try(absl::Span<const space::Change> changes) override {
    tried_ = values_;
    for (const space::Change& change : changes) {
      tried_[static_cast<size_t>(change.variable)] = change.value;
    }
    tried_score_ = Score(tried_);
    return tried_score_;
  }

  void Commit() override {
    values_ = tried_;
    score_ = tried_score_;
    Gather();
  }

  void Propose(Rng& rng, std::vector<space::Change>& changes) override {
    changes.clear();
    for (int draw = 0; draw < kMaxDraws && changes.empty(); ++draw) {
      switch (rng.Below(4)) {
        case 0:
          MoveNode(rng, changes);
          break;
        case 1:
          SplitAndMerge(rng, changes);
          break;
        default:
          MoveEnd(rng, changes);
      }
    }
  }

 private:
  space::LocalScore Score(absl::Span<const int32_t> chips) const {
    const space::Measurement measurement = problem_.MeasureOne(chips);
    const graphs::ChipLoads loads = graphs::ComputeChipLoads(graph_, chips);
    std::vector<double> totals;
    totals.reserve(loads.chips.size());
    for (const graphs::ChipLoad& load : loads.chips) {
      totals.push_back(load.total());
    }
    const double energy = graphs::PlacementEnergy(totals);
    return {space::RankOf(measurement),
            problem_.objective() == PartitionObjective::kModelled
                ? energy
                : measurement.cost + kLoadWeight * energy};
  }

  // Lists the nodes of each chip, and finds the busiest chip.
  void Gather() {
    nodes_.assign(static_cast<size_t>(graph_.chips()), {});
    for (const NodeIndex node : graph_.topological_order()) {
      nodes_[static_cast<size_t>(values_[node])].push_back(node);
    }
    used_ = 0;
    for (size_t c = 0; c < nodes_.size(); ++c) {
      if (!nodes_[c].empty()) used_ = c + 1;
    }
    const graphs::ChipLoads loads = graphs::ComputeChipLoads(graph_, values_);
    busiest_ = 0;
    for (size_t c = 0; c < used_; ++c) {
      if (loads.chips[c].total() > loads.chips[busiest_].total()) busiest_ = c;
    }
  }

  size_t DrawChip(Rng& rng) const {
    return rng.Below(2) == 0 ? busiest_ : rng.Below(used_);
  }

  // A number of nodes of a chip, small ones more often.
  static size_t DrawCount(size_t most, Rng& rng) {
    size_t count = 1;
    while (count < most && rng.Below(4) != 0) count *= 2;
    return std::min(most, 1 + rng.Below(count));
  }

  static void Move(NodeIndex node, size_t chip,
                   std::vector<space::Change>& changes) {
    changes.push_back({static_cast<int32_t>(node), static_cast<int32_t>(chip)});
  }

  void MoveEnd(Rng& rng, std::vector<space::Change>& changes) {
    const size_t chip = DrawChip(rng);
    const std::vector<NodeIndex>& nodes = nodes_[chip];
    if (nodes.size() < 2) return;
    const size_t count = DrawCount(nodes.size() - 1, rng);
    if (rng.Below(2) == 0) {
      if (chip + 1 >= static_cast<size_t>(graph_.chips())) return;
      for (size_t i = nodes.size() - count; i < nodes.size(); ++i) {
        Move(nodes[i], chip + 1, changes);
      }
    } else if (chip > 0) {
      for (size_t i = 0; i < count; ++i) Move(nodes[i], chip - 1, changes);
    }
  }

  void MoveNode(Rng& rng, std::vector<space::Change>& changes) {
    const std::vector<NodeIndex>& nodes = nodes_[DrawChip(rng)];
    if (nodes.empty()) return;
    const NodeIndex node = nodes[rng.Below(nodes.size())];
    int32_t lowest = 0;
    for (const NodeIndex before : graph_.adjacency().predecessors(node)) {
      lowest = std::max(lowest, values_[before]);
    }
    int32_t highest = std::min(static_cast<int32_t>(used_), graph_.chips() - 1);
    for (const NodeIndex next : graph_.adjacency().successors(node)) {
      highest = std::min(highest, values_[next]);
    }
    if (highest <= lowest) return;
    const int32_t chip = lowest + static_cast<int32_t>(rng.Below(
                                      static_cast<uint64_t>(highest - lowest)));
    Move(node, static_cast<size_t>(chip < values_[node] ? chip : chip + 1),
         changes);
  }

  // Chips between the two move by one. Without a chip that is free, two chips
  // become one to make room.
  void SplitAndMerge(Rng& rng, std::vector<space::Change>& changes) {
    const size_t split = DrawChip(rng);
    if (nodes_[split].size() < 2) return;
    const size_t stay = 1 + rng.Below(nodes_[split].size() - 1);
    // The chip that becomes one with that after it.
    const bool merges =
        used_ == static_cast<size_t>(graph_.chips()) || rng.Below(4) == 0;
    if (merges && used_ < 2) return;
    const size_t merged = merges ? rng.Below(used_ - 1) : used_;
    if (merged == split || merged + 1 == split) return;
    for (size_t c = 0; c < used_; ++c) {
      for (size_t i = 0; i < nodes_[c].size(); ++i) {
        size_t to = c;
        if (c > split || (c == split && i >= stay)) ++to;
        if (merges && c > merged) --to;
        if (to != c) Move(nodes_[c][i], to, changes);
      }
    }
  }

  const PartitionProblem& problem_;
  const graphs::PartitionGraph& graph_;
  std::vector<int32_t> values_;
  space::LocalScore score_;
  std::vector<int32_t> tried_;
  space::LocalScore tried_score_;
  std::vector<std::vector<NodeIndex>> nodes_;  // [chips], in topological order
  size_t used_ = 0;                            // chips
  size_t busiest_ = 0;
};

}  // namespace

std::unique_ptr<space::LocalState> MakePartitionLocal(
    const PartitionProblem& problem, absl::Span<const int32_t> chips) {
  return std::make_unique<PartitionLocal>(problem, chips);
}

}  // namespace hone::tuning
