#include "graphs/mcm/partition_rules.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"

#include "graphs/mcm/chip_loads.h"

namespace hone::graphs {
namespace {

using ChipSet = uint64_t;

ChipSet Bit(int32_t chip) { return ChipSet{1} << chip; }

// The chips' graph.
struct ChipGraph {
  std::array<ChipSet, kMaxChips> direct = {};  // whom a chip sends to
  std::array<ChipSet, kMaxChips> detour = {};  // whom it reaches over others
};

// `chips` must not have backward arcs.
ChipGraph MakeChipGraph(const PartitionGraph& graph,
                        absl::Span<const int32_t> chips) {
  ChipGraph result;
  for (size_t i = 0; i < graph.size(); ++i) {
    for (const NodeIndex next :
         graph.adjacency().successors(static_cast<NodeIndex>(i))) {
      if (chips[next] != chips[i]) {
        result.direct[static_cast<size_t>(chips[i])] |= Bit(chips[next]);
      }
    }
  }
  for (size_t a = kMaxChips; a-- > 0;) {
    for (ChipSet left = result.direct[a]; left != 0; left &= left - 1) {
      const auto b = static_cast<size_t>(std::countr_zero(left));
      result.detour[a] |= result.direct[b] | result.detour[b];
    }
  }
  return result;
}

ChipSet UsedChips(absl::Span<const int32_t> chips) {
  ChipSet used = 0;
  for (const int32_t chip : chips) used |= Bit(chip);
  return used;
}

absl::Status BackwardArc(const PartitionGraph& graph,
                         absl::Span<const int32_t> chips) {
  for (size_t i = 0; i < graph.size(); ++i) {
    const auto node = static_cast<NodeIndex>(i);
    for (const NodeIndex next : graph.adjacency().successors(node)) {
      if (chips[next] < chips[i]) {
        return absl::InvalidArgumentError(absl::StrFormat(
            "node '%s' on chip %d reads '%s' on chip %d, expected data to flow "
            "to equal or higher chips",
            graph.node(next).name, chips[next], graph.node(node).name,
            chips[i]));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

PartitionFaults FindFaults(const PartitionGraph& graph,
                           absl::Span<const int32_t> chips) {
  PartitionFaults faults;
  int64_t arcs = 0;
  for (size_t i = 0; i < graph.size(); ++i) {
    for (const NodeIndex next :
         graph.adjacency().successors(static_cast<NodeIndex>(i))) {
      ++arcs;
      if (chips[next] < chips[i]) ++faults.backward_arcs;
    }
  }
  const ChipSet used = UsedChips(chips);
  faults.gaps = static_cast<int32_t>(std::bit_width(used)) -
                static_cast<int32_t>(std::popcount(used));
  // Shortcuts mean nothing where data flows back.
  if (faults.backward_arcs == 0) {
    const ChipGraph chip_graph = MakeChipGraph(graph, chips);
    for (size_t a = 0; a < kMaxChips; ++a) {
      faults.shortcuts +=
          std::popcount(chip_graph.direct[a] & chip_graph.detour[a]);
    }
  }
  for (const double bytes : ResidentBytes(graph, chips)) {
    if (!FitsChip(graph, bytes)) {
      faults.excess_bytes += bytes - graph.memory_bytes();
    }
  }
  const auto k = static_cast<double>(graph.chips());
  faults.violation =
      static_cast<double>(faults.backward_arcs) /
          static_cast<double>(std::max<int64_t>(arcs, 1)) +
      faults.gaps / k + faults.shortcuts / (k * k) +
      faults.excess_bytes / (k * std::max(graph.memory_bytes(), 1.0));
  return faults;
}

absl::Status CheckPartition(const PartitionGraph& graph,
                            absl::Span<const int32_t> chips) {
  if (chips.size() != graph.size()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%d chips for %d nodes, expected one for each",
                        chips.size(), graph.size()));
  }
  for (size_t i = 0; i < chips.size(); ++i) {
    if (chips[i] < 0 || chips[i] >= graph.chips()) {
      return absl::InvalidArgumentError(
          absl::StrFormat("node '%s' is on chip %d, expected 0 to %d",
                          graph.nodes()[i].name, chips[i], graph.chips() - 1));
    }
  }
  const PartitionFaults faults = FindFaults(graph, chips);
  if (faults.backward_arcs > 0) return BackwardArc(graph, chips);
  if (faults.gaps > 0) {
    const ChipSet used = UsedChips(chips);
    return absl::InvalidArgumentError(absl::StrFormat(
        "chip %d has no node and chip %d has, expected the used chips to have "
        "no gap",
        std::countr_one(used), std::bit_width(used) - 1));
  }
  if (faults.shortcuts > 0) {
    const ChipGraph chip_graph = MakeChipGraph(graph, chips);
    for (size_t a = 0; a < kMaxChips; ++a) {
      const ChipSet both = chip_graph.direct[a] & chip_graph.detour[a];
      if (both == 0) continue;
      return absl::InvalidArgumentError(absl::StrFormat(
          "chip %d sends to chip %d directly and over others, expected one way "
          "(triangle rule)",
          a, std::countr_zero(both)));
    }
  }
  if (faults.excess_bytes > 0) {
    const std::vector<double> bytes = ResidentBytes(graph, chips);
    for (size_t c = 0; c < bytes.size(); ++c) {
      if (FitsChip(graph, bytes[c])) continue;
      return absl::InvalidArgumentError(absl::StrFormat(
          "chip %d has %.17g bytes from the start, %.17g more than its memory",
          c, bytes[c], bytes[c] - graph.memory_bytes()));
    }
  }
  return absl::OkStatus();
}

}  // namespace hone::graphs
