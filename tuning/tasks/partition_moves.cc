#include "tuning/tasks/partition_moves.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"

#include "base/mix_bits.h"
#include "graphs/placement_moves.h"

namespace hone::tuning {
namespace {

using graphs::NodeIndex;

// In the order in which Describe gives them. Of the chips that change, `was_`
// before and `is_` after: `busy` is the load with the overhead of operators,
// the parts after it are those of the busiest.
constexpr absl::string_view kFeatures[] = {
    "changes",     "chips_added",  "chips_changed", "rest_load",
    "rest_busy",   "was_load",     "was_busy",      "was_compute",
    "was_inbound", "was_outbound", "was_overhead",  "was_memory",
    "was_output",  "was_mean",     "is_load",       "is_busy",
    "is_compute",  "is_inbound",   "is_outbound",   "is_overhead",
    "is_memory",   "is_output",    "is_mean",       "transfers_saved",
    "busy_saved",  "energy_saved"};

constexpr size_t PlaceOf(absl::string_view feature) {
  size_t place = 0;
  while (kFeatures[place] != feature) ++place;
  return place;
}

constexpr size_t kEnergySaved = PlaceOf("energy_saved");
constexpr float kEstimateWeight = 16;

float Share(double value, double of) {
  constexpr double kMost = 4;
  return of > 0 ? static_cast<float>(std::clamp(value / of, -kMost, kMost)) : 0;
}

// As Share, with small differences enlarged.
float Difference(double value, double of) {
  const float share = Share(value, of);
  return std::copysign(std::cbrt(std::abs(share)), share);
}

}  // namespace

std::vector<std::string> PartitionMoveFeatureNames() {
  return {std::begin(kFeatures), std::end(kFeatures)};
}

float EstimatePartitionMove(absl::Span<const float> features) {
  return kEstimateWeight * features[kEnergySaved];
}

// Parts that change, together.
struct PartitionMoves::Side {
  int32_t count = 0;
  double load = 0;       // the largest
  double busy = 0;       // the largest, of `busiest`
  double memory = 0;     // the largest
  double output = 0;     // the largest
  double sum = 0;        // of loads
  double transfers = 0;  // the sum
  Part busiest;
  double rest_load = 0;  // the largest of the others
  double rest_busy = 0;
};

PartitionMoves::PartitionMoves(const graphs::PartitionGraph& graph,
                               double op_time)
    : graph_(graph), op_time_(op_time) {}

double PartitionMoves::Busy(const Part& part) const {
  return part.load() + part.operators * op_time_;
}

void PartitionMoves::Start(absl::Span<const int32_t> chips) {
  chips_.assign(chips.begin(), chips.end());
  parts_ = PartsOf(chips_);
  energy_ = Energy(parts_);
}

std::vector<PartitionMoves::Part> PartitionMoves::PartsOf(
    absl::Span<const int32_t> chips) const {
  std::vector<Part> parts(static_cast<size_t>(graph_.chips()));
  for (size_t i = 0; i < graph_.size(); ++i) {
    const graphs::PartitionNode& node = graph_.nodes()[i];
    Part& own = parts[static_cast<size_t>(chips[i])];
    own.nodes += MixBits(i + 1);
    own.compute += node.time;
    own.operators += static_cast<double>(node.origins.size());
    own.resident_bytes += node.resident_bytes;
    own.largest_bytes = std::max(own.largest_bytes, node.output_bytes);
    uint64_t readers = 0;
    for (const NodeIndex next :
         graph_.adjacency().successors(static_cast<NodeIndex>(i))) {
      readers |= uint64_t{1} << chips[next];
    }
    readers &= ~(uint64_t{1} << chips[i]);
    if (readers == 0) continue;
    own.outbound += node.transfer_time;
    for (; readers != 0; readers &= readers - 1) {
      parts[static_cast<size_t>(std::countr_zero(readers))].inbound +=
          node.transfer_time;
    }
  }
  for (const graphs::PartitionSource& source : graph_.sources()) {
    if (source.time == 0 && source.resident_bytes == 0) continue;
    uint64_t copies = 0;
    for (const NodeIndex reader : source.readers) {
      copies |= uint64_t{1} << chips[reader];
    }
    for (; copies != 0; copies &= copies - 1) {
      Part& part = parts[static_cast<size_t>(std::countr_zero(copies))];
      part.compute += source.time;
      part.resident_bytes += source.resident_bytes;
    }
  }
  std::erase_if(parts, [](const Part& part) { return part.nodes == 0; });
  return parts;
}

PartitionMoves::Side PartitionMoves::Gather(
    const std::vector<Part>& parts, const std::vector<Part>& others) const {
  absl::flat_hash_set<uint64_t> same;
  for (const Part& part : others) same.insert(part.nodes);
  Side side;
  for (const Part& part : parts) {
    const double busy = Busy(part);
    if (same.contains(part.nodes)) {
      side.rest_load = std::max(side.rest_load, part.load());
      side.rest_busy = std::max(side.rest_busy, busy);
      continue;
    }
    ++side.count;
    side.load = std::max(side.load, part.load());
    side.memory = std::max(side.memory, part.resident_bytes);
    side.output = std::max(side.output, part.largest_bytes);
    side.sum += part.load();
    side.transfers += part.inbound + part.outbound;
    if (busy < side.busy) continue;
    side.busy = busy;
    side.busiest = part;
  }
  return side;
}

void PartitionMoves::Describe(absl::Span<const space::Change> changes,
                              std::vector<float>& features) {
  tried_ = chips_;
  for (const space::Change& change : changes) {
    tried_[static_cast<size_t>(change.variable)] = change.value;
  }
  const std::vector<Part> parts = PartsOf(tried_);
  const Side was = Gather(parts_, parts);
  const Side is = Gather(parts, parts_);
  const double load = std::max({was.load, was.rest_load, 1e-30});
  const double busy = std::max({was.busy, was.rest_busy, 1e-30});
  features.clear();
  features.insert(features.end(),
                  {static_cast<float>(
                       std::log2(1 + static_cast<double>(changes.size())) / 16),
                   static_cast<float>(is.count - was.count),
                   static_cast<float>(was.count) / 16,
                   Share(was.rest_load, load), Share(was.rest_busy, busy)});
  for (const Side& side : {was, is}) {
    features.insert(
        features.end(),
        {Share(side.load, load), Share(side.busy, busy),
         Share(side.busiest.compute, busy), Share(side.busiest.inbound, busy),
         Share(side.busiest.outbound, busy),
         Share(side.busiest.operators * op_time_, busy),
         Share(side.memory, graph_.memory_bytes()),
         Share(side.output, graph_.memory_bytes()),
         Share(side.sum / std::max(1, side.count), load)});
  }
  features.push_back(Difference(was.transfers - is.transfers, load));
  features.push_back(Difference(busy - std::max(is.busy, is.rest_busy), busy));
  features.push_back(Difference(energy_ - Energy(parts), energy_));
}

double PartitionMoves::Energy(const std::vector<Part>& parts) const {
  std::vector<double> busy;
  busy.reserve(parts.size());
  for (const Part& part : parts) busy.push_back(Busy(part));
  return graphs::PlacementEnergy(busy);
}

}  // namespace hone::tuning
