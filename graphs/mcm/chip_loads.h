#ifndef HONE_GRAPHS_MCM_CHIP_LOADS_H_
#define HONE_GRAPHS_MCM_CHIP_LOADS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

#include "graphs/mcm/partition_graph.h"

namespace hone::graphs {

// The milliseconds that a chip is busy per sample, by the analytical model.
struct ChipLoad {
  double compute = 0;   // of its nodes and its copies of sources
  double inbound = 0;   // each output from elsewhere that a node of it reads
  double outbound = 0;  // each output of it that is read elsewhere, once

  double total() const { return compute + inbound + outbound; }
};

struct ChipLoads {
  std::vector<ChipLoad> chips;  // [chips of the package]
  // The load of the busiest chip; throughput is its inverse.
  double max_load = 0;
};

// Returns the loads of a partition, one chip for each node, also of one that
// breaks rules. An output that several chips read passes each link once.
// Linear time.
// Source: Xie et al., MLSys 2022, section 4: T_max = max over the chips; the
// formula of a chip's latency is not published, this one is ours.
ChipLoads ComputeChipLoads(const PartitionGraph& graph,
                           absl::Span<const int32_t> chips);

// Returns what each chip has in memory from the start: its nodes' weights and
// copies of the sources that they read. [chips of the package] Linear time.
std::vector<double> ResidentBytes(const PartitionGraph& graph,
                                  absl::Span<const int32_t> chips);

// Whether so much fits in the memory of a chip. Sums of integers are exact; the
// tolerance is for rounding in sums of fractions.
inline bool FitsChip(const PartitionGraph& graph, double bytes) {
  return bytes <= graph.memory_bytes() * (1 + 1e-12);
}

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_MCM_CHIP_LOADS_H_
