#include "graphs/mcm/chip_loads.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace hone::graphs {
namespace {

// The chips with a copy.
uint64_t ChipsOf(const PartitionSource& source,
                 absl::Span<const int32_t> chips) {
  uint64_t copies = 0;
  for (const NodeIndex reader : source.readers) {
    copies |= uint64_t{1} << chips[reader];
  }
  return copies;
}

}  // namespace

ChipLoads ComputeChipLoads(const PartitionGraph& graph,
                           absl::Span<const int32_t> chips) {
  ChipLoads result;
  result.chips.resize(static_cast<size_t>(graph.chips()));
  for (size_t i = 0; i < graph.size(); ++i) {
    const auto node = static_cast<NodeIndex>(i);
    const PartitionNode& made = graph.node(node);
    ChipLoad& own = result.chips[static_cast<size_t>(chips[i])];
    own.compute += made.time;
    uint64_t readers = 0;
    for (const NodeIndex next : graph.adjacency().successors(node)) {
      readers |= uint64_t{1} << chips[next];
    }
    readers &= ~(uint64_t{1} << chips[i]);
    if (readers == 0) continue;
    own.outbound += made.transfer_time;
    for (; readers != 0; readers &= readers - 1) {
      result.chips[static_cast<size_t>(std::countr_zero(readers))].inbound +=
          made.transfer_time;
    }
  }
  for (const PartitionSource& source : graph.sources()) {
    if (source.time == 0) continue;
    for (uint64_t copies = ChipsOf(source, chips); copies != 0;
         copies &= copies - 1) {
      result.chips[static_cast<size_t>(std::countr_zero(copies))].compute +=
          source.time;
    }
  }
  for (const ChipLoad& load : result.chips) {
    result.max_load = std::max(result.max_load, load.total());
  }
  return result;
}

std::vector<double> ResidentBytes(const PartitionGraph& graph,
                                  absl::Span<const int32_t> chips) {
  std::vector<double> bytes(static_cast<size_t>(graph.chips()));
  for (size_t i = 0; i < graph.size(); ++i) {
    bytes[static_cast<size_t>(chips[i])] += graph.nodes()[i].resident_bytes;
  }
  for (const PartitionSource& source : graph.sources()) {
    for (uint64_t copies = ChipsOf(source, chips); copies != 0;
         copies &= copies - 1) {
      bytes[static_cast<size_t>(std::countr_zero(copies))] +=
          source.resident_bytes;
    }
  }
  return bytes;
}

}  // namespace hone::graphs
