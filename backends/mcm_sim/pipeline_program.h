#ifndef HONE_BACKENDS_MCM_SIM_PIPELINE_PROGRAM_H_
#define HONE_BACKENDS_MCM_SIM_PIPELINE_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

#include "graphs/mcm/package.h"
#include "graphs/mcm/partition_graph.h"

namespace hone::backends {

// An output that crosses chips.
struct PipelineOutput {
  graphs::NodeIndex node = 0;
  int32_t from = 0;      // its chip
  int32_t last = 0;      // the highest chip that reads it
  uint64_t readers = 0;  // chips
  double transfer = 0;   // milliseconds over a link, without latency
};

// A step of a chip, for each sample.
struct PipelineStep {
  enum class Kind : uint8_t { kCompute, kSend, kTake };
  Kind kind = Kind::kCompute;
  double milliseconds = 0;
  size_t output = 0;  // of kSend and kTake
};

struct PipelineProgram {
  std::vector<PipelineOutput> outputs;
  // In order, those of nodes in a row as one. [chips][steps]
  std::vector<std::vector<PipelineStep>> steps;
};

// Returns what the chips of a partition do for a sample (README.md), with
// `spilled_before` bytes of each node. Data must flow to equal or higher chips.
PipelineProgram MakePipelineProgram(const graphs::PartitionGraph& graph,
                                    const graphs::Package& package,
                                    absl::Span<const int32_t> chips,
                                    absl::Span<const double> spilled_before);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_MCM_SIM_PIPELINE_PROGRAM_H_
