#ifndef HONE_BACKENDS_MCM_SIM_PIPELINE_MEMORY_H_
#define HONE_BACKENDS_MCM_SIM_PIPELINE_MEMORY_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

#include "graphs/mcm/partition_graph.h"

namespace hone::backends {

// The buffers that an output has at each chip that it comes to.
inline constexpr int32_t kPipelineBuffers = 2;

// The memory that a chip uses, in bytes.
struct ChipMemory {
  double resident = 0;  // weights and copies of sources
  double buffers = 0;   // of outputs that come to it, or through it
  // The most that is live at once beside these, and that a node reads and makes
  // at once.
  double live = 0;
  double working = 0;
  // That go to the package's memory and back for each sample.
  double spilled = 0;
  // That cannot, and do not fit.
  double excess = 0;
};

struct PipelineMemory {
  std::vector<ChipMemory> chips;  // [chips of the package]
  std::vector<double>
      spilled_before;  // [nodes]: of `spilled`, those for a node
};

// Returns what the chips of a partition hold (README.md). Data must flow to
// equal or higher chips. Linear time, up to the chips.
PipelineMemory FindPipelineMemory(const graphs::PartitionGraph& graph,
                                  absl::Span<const int32_t> chips);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_MCM_SIM_PIPELINE_MEMORY_H_
