#include "tuning/tasks/partition_draw.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "graphs/mcm/chip_loads.h"
#include "graphs/mcm/package.h"
#include "space/complete.h"

namespace hone::tuning {
namespace {

using graphs::NodeIndex;

constexpr int kUniformTries = 4;
constexpr int kFills = 16;

// Chooses for one node after the other, in a topological order, the first chip
// with room for it.
class Filling {
 public:
  Filling(const graphs::PartitionGraph& graph, const space::Domains& domains,
          Rng& rng)
      : graph_(graph),
        domains_(domains),
        order_(graph.topological_order()),
        place_(graph.size()),
        chip_of_(graph.size()) {
    for (size_t i = 0; i < order_.size(); ++i) {
      place_[order_[i]] = i;
    }
    // Between equal shares and those of random cuts.
    const double even = rng.Uniform();
    const auto chips = static_cast<size_t>(graph.chips());
    double sum = 0;
    for (size_t c = 0; c < chips; ++c) {
      share_[c] = even - (1 - even) * std::log1p(-rng.Uniform());
      sum += share_[c];
    }
    // Some of the chips are enough for all, as far as memory allows it.
    const double few = 0.25 + 0.35 * rng.Uniform();
    for (double& share : share_) share *= graph.total_time() / (sum * few);
  }

  // Nodes that were decided before a conflict may be elsewhere after it.
  void NoteConflict() { conflict_ = true; }

  int32_t Choose(int32_t node, uint64_t left) {
    const auto place = place_[static_cast<size_t>(node)];
    const size_t kept = conflict_ ? 0 : place;
    conflict_ = false;
    while (filled_ > kept) Count(--filled_, -1);
    while (filled_ < place) {
      const auto before = static_cast<int32_t>(order_[filled_]);
      chip_of_[filled_] =
          static_cast<size_t>(std::countr_zero(domains_.Get(before)));
      Count(filled_++, 1);
    }
    const double bytes =
        graph_.node(static_cast<NodeIndex>(node)).resident_bytes;
    for (uint64_t chips = left; chips != 0; chips &= chips - 1) {
      const auto chip = static_cast<size_t>(std::countr_zero(chips));
      if (time_[chip] < share_[chip] &&
          graphs::FitsChip(graph_, bytes_[chip] + bytes)) {
        return static_cast<int32_t>(chip);
      }
    }
    return 63 - std::countl_zero(left);
  }

 private:
  void Count(size_t place, double sign) {
    const graphs::PartitionNode& node = graph_.node(order_[place]);
    time_[chip_of_[place]] += sign * node.time;
    bytes_[chip_of_[place]] += sign * node.resident_bytes;
  }

  const graphs::PartitionGraph& graph_;
  const space::Domains& domains_;
  const absl::Span<const NodeIndex> order_;
  std::vector<size_t> place_;    // of each node in the order
  std::vector<size_t> chip_of_;  // of the first `filled_` of the order
  size_t filled_ = 0;
  bool conflict_ = false;  // since they were counted
  std::array<double, graphs::kMaxChips> share_ = {};
  std::array<double, graphs::kMaxChips> time_ = {};
  std::array<double, graphs::kMaxChips> bytes_ = {};
};

// Whether what there is from the start takes so much of all memory that cuts at
// random places hardly ever fit.
bool IsTight(const graphs::PartitionGraph& graph) {
  constexpr double kShare = 0.4;
  double bytes = 0;
  for (const graphs::PartitionNode& node : graph.nodes()) {
    bytes += node.resident_bytes;
  }
  return bytes > kShare * graph.memory_bytes() * graph.chips();
}

}  // namespace

std::optional<graphs::Partition> DrawPartition(
    const graphs::PartitionGraph& graph, space::Domains& domains, Rng& rng,
    const std::function<bool()>& stop) {
  std::vector<int32_t> order(graph.size());
  std::iota(order.begin(), order.end(), 0);
  const int tries = IsTight(graph) ? 0 : kUniformTries;
  for (int i = 0; i < tries; ++i) {
    std::shuffle(order.begin(), order.end(), rng);
    auto chips = space::Complete(
        domains, order,
        [&](int32_t, uint64_t left) { return space::DrawValue(left, rng); },
        stop, space::kFewConflicts);
    if (chips) return chips;
    if (stop && stop()) return std::nullopt;
  }
  order.assign(graph.topological_order().begin(),
               graph.topological_order().end());
  for (int i = 0; i < kFills; ++i) {
    Filling filling(graph, domains, rng);
    auto chips = space::Complete(
        domains, order,
        [&](int32_t node, uint64_t left) { return filling.Choose(node, left); },
        [&] {
          filling.NoteConflict();
          return stop && stop();
        },
        space::kFewConflicts);
    if (chips) return chips;
    if (stop && stop()) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace hone::tuning
