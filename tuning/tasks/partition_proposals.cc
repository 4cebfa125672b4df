#include "tuning/tasks/partition_proposals.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "graphs/mcm/partition_rules.h"
#include "graphs/topological_orders.h"
#include "space/complete.h"

namespace hone::tuning {
namespace {

using graphs::NodeIndex;

constexpr int kMaxDraws = 16;
// One move in so many is of a single node.
constexpr uint64_t kNodeMoves = 5;
// One move that breaks a rule in so many is repaired.
constexpr uint64_t kRepairs = 256;
// The most chips in a row that are cut anew.
constexpr uint64_t kMostChips = 4;
constexpr uint32_t kOutside = ~uint32_t{0};

std::vector<uint32_t> PlacesIn(absl::Span<const NodeIndex> order) {
  std::vector<uint32_t> places(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    places[order[i]] = static_cast<uint32_t>(i);
  }
  return places;
}

}  // namespace

PartitionProposals::PartitionProposals(const PartitionProblem& problem)
    : problem_(problem),
      graph_(problem.graph()),
      domains_(problem.MakeDomains()),
      places_({PlacesIn(graph_.topological_order()),
               PlacesIn(graphs::ReverseOrder(graph_.adjacency())),
               PlacesIn(graphs::BreadthFirstOrder(graph_.adjacency()))}),
      window_place_(graph_.size(), kOutside) {}

void PartitionProposals::Start(absl::Span<const int32_t> chips,
                               const graphs::ChipLoads& loads) {
  chips_.assign(chips.begin(), chips.end());
  used_ = 0;
  for (const int32_t chip : chips_) {
    used_ = std::max(used_, static_cast<size_t>(chip) + 1);
  }
  nodes_.assign(used_, {});
  for (const NodeIndex node : graph_.topological_order()) {
    nodes_[static_cast<size_t>(chips_[node])].push_back(node);
  }
  loads_.clear();
  for (size_t c = 0; c < used_; ++c) loads_.push_back(loads.chips[c].total());
  busiest_ = static_cast<size_t>(
      std::max_element(loads_.begin(), loads_.end()) - loads_.begin());
}

void PartitionProposals::Propose(Rng& rng,
                                 std::vector<space::Change>& changes) {
  changes.clear();
  for (int draw = 0; draw < kMaxDraws && changes.empty(); ++draw) {
    tried_ = chips_;
    const bool made = rng.Below(kNodeMoves) == 0 ? MoveNode(rng) : Recut(rng);
    if (!made) continue;
    if (graphs::FindFaults(graph_, tried_).violation > 0 &&
        (rng.Below(kRepairs) != 0 || !Repair(rng))) {
      continue;
    }
    for (size_t i = 0; i < tried_.size(); ++i) {
      if (tried_[i] == chips_[i]) continue;
      changes.push_back({static_cast<int32_t>(i), tried_[i]});
    }
  }
}

size_t PartitionProposals::DrawChip(Rng& rng) const {
  return rng.Below(4) != 0 ? busiest_ : rng.Below(used_);
}

bool PartitionProposals::MoveNode(Rng& rng) {
  const std::vector<NodeIndex>& nodes = nodes_[DrawChip(rng)];
  if (nodes.empty()) return false;
  const NodeIndex node = nodes[rng.Below(nodes.size())];
  int32_t lowest = 0;
  for (const NodeIndex before : graph_.adjacency().predecessors(node)) {
    lowest = std::max(lowest, chips_[before]);
  }
  int32_t highest = std::min(static_cast<int32_t>(used_), graph_.chips() - 1);
  for (const NodeIndex next : graph_.adjacency().successors(node)) {
    highest = std::min(highest, chips_[next]);
  }
  if (highest <= lowest) return false;
  const int32_t chip =
      lowest +
      static_cast<int32_t>(rng.Below(static_cast<uint64_t>(highest - lowest)));
  tried_[node] = chip < chips_[node] ? chip : chip + 1;
  return true;
}

bool PartitionProposals::Recut(Rng& rng) {
  size_t first = DrawChip(rng);
  first -= std::min<size_t>(first, rng.Below(kMostChips));
  const size_t chips =
      std::min<size_t>(1 + rng.Below(kMostChips), used_ - first);
  // One less, as many, or one more.
  size_t parts = chips + rng.Below(3);
  parts = std::max<size_t>(1, parts - 1);
  size_t merged = used_;
  if (used_ + parts - chips > static_cast<size_t>(graph_.chips())) {
    merged = DrawMerged(first, first + chips, rng);
    if (merged == used_) return false;
  }
  std::vector<NodeIndex> nodes;
  for (size_t c = first; c < first + chips; ++c) {
    nodes.insert(nodes.end(), nodes_[c].begin(), nodes_[c].end());
  }
  if (nodes.size() < parts) return false;
  const std::vector<uint32_t>& places = places_[rng.Below(places_.size())];
  std::sort(nodes.begin(), nodes.end(),
            [&](NodeIndex a, NodeIndex b) { return places[a] < places[b]; });
  const std::vector<size_t> cuts = DrawCuts(nodes, parts - 1, rng);
  const auto shift =
      static_cast<int32_t>(cuts.size() + 1) - static_cast<int32_t>(chips);
  for (size_t c = first + chips; c < used_ && shift != 0; ++c) {
    for (const NodeIndex node : nodes_[c]) tried_[node] += shift;
  }
  size_t part = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    while (part < cuts.size() && cuts[part] <= i) ++part;
    tried_[nodes[i]] = static_cast<int32_t>(first + part);
  }
  for (size_t c = merged + 1; c < used_; ++c) {
    for (const NodeIndex node : nodes_[c]) --tried_[node];
  }
  return true;
}

size_t PartitionProposals::DrawMerged(size_t first, size_t end,
                                      Rng& rng) const {
  constexpr int kDraws = 4;
  size_t best = used_;
  for (int i = 0; i < kDraws; ++i) {
    const size_t chip = rng.Below(used_);
    const bool outside = chip + 1 < first || chip >= end;
    if (chip + 1 >= used_ || !outside) continue;
    if (best == used_ ||
        loads_[chip] + loads_[chip + 1] < loads_[best] + loads_[best + 1]) {
      best = chip;
    }
  }
  return best;
}

std::vector<size_t> PartitionProposals::DrawCuts(
    absl::Span<const NodeIndex> nodes, size_t count, Rng& rng) {
  if (count == 0 || nodes.size() < 2) return {};
  for (size_t i = 0; i < nodes.size(); ++i) {
    window_place_[nodes[i]] = static_cast<uint32_t>(i);
  }
  // The transfers of outputs across each place, and the time before it.
  std::vector<double> crossing(nodes.size() + 1);
  std::vector<double> time(nodes.size() + 1);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const graphs::PartitionNode& node = graph_.node(nodes[i]);
    time[i + 1] = time[i] + node.time;
    size_t last = i;
    for (const NodeIndex next : graph_.adjacency().successors(nodes[i])) {
      if (window_place_[next] != kOutside) {
        last = std::max<size_t>(last, window_place_[next]);
      }
    }
    crossing[i + 1] += node.transfer_time;
    crossing[last + 1] -= node.transfer_time;
  }
  for (size_t i = 1; i < crossing.size(); ++i) crossing[i] += crossing[i - 1];
  for (const NodeIndex node : nodes) window_place_[node] = kOutside;

  std::vector<size_t> cuts;
  for (size_t c = 0; c < count; ++c) {
    // The one that least crosses of a few, by place or by time.
    const uint64_t tries = uint64_t{1} << rng.Below(5);
    const bool by_time = rng.Below(2) == 0;
    size_t best = 0;
    for (uint64_t i = 0; i < tries; ++i) {
      size_t cut = 1 + rng.Below(nodes.size() - 1);
      if (by_time) {
        const double at = rng.Uniform() * time.back();
        cut = static_cast<size_t>(
            std::lower_bound(time.begin(), time.end(), at) - time.begin());
        cut = std::clamp<size_t>(cut, 1, nodes.size() - 1);
      }
      if (best == 0 || crossing[cut] < crossing[best]) best = cut;
    }
    cuts.push_back(best);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

bool PartitionProposals::Repair(Rng& rng) {
  // What the move changes comes first, so that the rest gives way.
  std::vector<int32_t> order;
  order.reserve(tried_.size());
  for (const bool changed : {true, false}) {
    for (const NodeIndex node : graph_.topological_order()) {
      if ((tried_[node] != chips_[node]) == changed) {
        order.push_back(static_cast<int32_t>(node));
      }
    }
  }
  int64_t repaired = 0;
  const auto nearest = [&](int32_t variable, uint64_t left) {
    const int32_t value = tried_[static_cast<size_t>(variable)];
    if ((left >> value & 1) != 0) return value;
    int32_t best = -1;
    for (int32_t chip = 0; chip < graph_.chips(); ++chip) {
      if ((left >> chip & 1) == 0) continue;
      const int32_t nearer =
          best < 0 ? -1 : std::abs(chip - value) - std::abs(best - value);
      if (nearer < 0 || (nearer == 0 && rng.Below(2) == 0)) best = chip;
    }
    return best;
  };
  std::optional<std::vector<int32_t>> chips =
      space::Complete(*domains_, order, nearest, nullptr, space::kFewConflicts);
  if (!chips) return false;
  for (size_t i = 0; i < chips->size(); ++i) {
    repaired += (*chips)[i] != tried_[i] ? 1 : 0;
  }
  problem_.CountRepair(repaired);
  tried_ = *std::move(chips);
  return true;
}

}  // namespace hone::tuning
