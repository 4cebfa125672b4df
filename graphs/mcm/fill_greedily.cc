#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "graphs/mcm/chip_loads.h"
#include "graphs/mcm/partition_rules.h"
#include "graphs/mcm/partitions.h"

namespace hone::graphs {
namespace {

// The nodes of an order, chip by chip.
class Filling {
 public:
  explicit Filling(const PartitionGraph& graph)
      : graph_(graph),
        chips_(graph.size(), kNone),
        source_chip_(graph.sources().size(), kNone),
        share_(graph.total_time() / graph.chips()) {}

  // Returns nothing if merging takes too long.
  std::optional<Partition> Run() {
    for (const NodeIndex node : graph_.topological_order()) {
      // A new chip where the share would be exceeded by more than half of the
      // node, or memory is full.
      const double time = graph_.node(node).time;
      const bool is_full =
          time_ > 0 && time_ + time / 2 > share_ && chip_ + 1 < graph_.chips();
      const bool fits = FitsChip(graph_, bytes_ + NewBytes(node));
      if (!order_.empty() && (is_full || !fits)) Open();
      Add(node);
      int32_t needed = chip_;
      for (const NodeIndex before : graph_.adjacency().predecessors(node)) {
        needed = std::min(needed, chips_[before] + 1);
      }
      if (needed < chip_) MergeInto(needed);
      if (moved_ > kMostMoves * graph_.size()) return std::nullopt;
    }
    return chips_;
  }

 private:
  static constexpr int32_t kNone = -1;
  // Nodes are moved so often at most, on average: where all read the first one,
  // each would move all those before it.
  static constexpr size_t kMostMoves = 256;

  // The bytes that a node adds to the chip.
  double NewBytes(NodeIndex node) const {
    double bytes = graph_.node(node).resident_bytes;
    for (const NodeIndex source : graph_.sources_of(node)) {
      if (source_chip_[source] != chip_) {
        bytes += graph_.sources()[source].resident_bytes;
      }
    }
    return bytes;
  }

  void Open() {
    ++chip_;
    time_ = 0;
    bytes_ = 0;
  }

  void Add(NodeIndex node) {
    bytes_ += NewBytes(node);
    time_ += graph_.node(node).time;
    for (const NodeIndex source : graph_.sources_of(node)) {
      if (std::exchange(source_chip_[source], chip_) != chip_) {
        time_ += graph_.sources()[source].time;
      }
    }
    chips_[node] = chip_;
    order_.push_back(node);
  }

  // Moves all nodes of higher chips to `chip`.
  void MergeInto(int32_t chip) {
    auto first = order_.end();
    while (first != order_.begin() && chips_[*(first - 1)] >= chip) --first;
    const std::vector<NodeIndex> moved(first, order_.end());
    order_.erase(first, order_.end());
    moved_ += moved.size();
    chip_ = chip - 1;
    Open();
    for (const NodeIndex node : moved) {
      for (const NodeIndex source : graph_.sources_of(node)) {
        source_chip_[source] = kNone;
      }
    }
    for (const NodeIndex node : moved) Add(node);
  }

  const PartitionGraph& graph_;
  int32_t chip_ = 0;
  Partition chips_;
  std::vector<int32_t> source_chip_;  // the last one with a copy
  const double share_;
  std::vector<NodeIndex> order_;  // of the nodes so far
  size_t moved_ = 0;              // nodes by merging, so far
  double time_ = 0;               // of the chip
  double bytes_ = 0;              // of the chip
};

}  // namespace

std::optional<Partition> FillGreedily(const PartitionGraph& graph) {
  std::optional<Partition> chips = Filling(graph).Run();
  if (!chips || !CheckPartition(graph, *chips).ok()) return std::nullopt;
  return chips;
}

}  // namespace hone::graphs
