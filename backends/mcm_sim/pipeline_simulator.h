#ifndef HONE_BACKENDS_MCM_SIM_PIPELINE_SIMULATOR_H_
#define HONE_BACKENDS_MCM_SIM_PIPELINE_SIMULATOR_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

#include "backends/mcm_sim/pipeline_memory.h"
#include "graphs/mcm/package.h"
#include "graphs/mcm/partition_graph.h"

namespace hone::backends {

// Raised whenever a partition gets another interval or another failure.
inline constexpr int kPipelineVersion = 1;

// Something that a chip or a link did, in milliseconds.
struct PipelineEvent {
  enum class Kind : uint8_t { kCompute, kSend, kTake, kLink };
  Kind kind = Kind::kCompute;
  int32_t chip = 0;  // or the link that leaves it
  int32_t sample = 0;
  double begin = 0;
  double end = 0;
  graphs::NodeIndex node = 0;  // whose output, of all but kCompute
};

struct PipelineResult {
  double interval = 0;  // milliseconds between samples
  double latency = 0;   // milliseconds of the first sample
  // Milliseconds per sample that the chips and the links that leave them are
  // busy. [chips of the package]
  std::vector<double> chip_busy;
  std::vector<double> link_busy;
  PipelineMemory memory;
  // The bytes that the fullest chip lacks, and its number; 0 and -1 if memory
  // suffices. The interval means nothing where it does not.
  double excess_bytes = 0;
  int32_t fullest_chip = -1;
  // If asked for, in the order of their ends.
  std::vector<PipelineEvent> events = {};
};

// Simulates a partition, one chip for each node, on a package (README.md has
// the equations). Data must flow to equal or higher chips. Deterministic. Time
// O(steps of all chips, and links that outputs cross, for each of 48 samples).
// Threads: may be called in several.
PipelineResult SimulatePipeline(const graphs::PartitionGraph& graph,
                                const graphs::Package& package,
                                absl::Span<const int32_t> chips,
                                bool with_events = false);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_MCM_SIM_PIPELINE_SIMULATOR_H_
