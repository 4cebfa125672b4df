#ifndef HONE_TESTS_BACKENDS_MCM_SIM_PIPELINE_BY_DEFINITION_H_
#define HONE_TESTS_BACKENDS_MCM_SIM_PIPELINE_BY_DEFINITION_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

#include "graphs/mcm/package.h"
#include "graphs/mcm/partition_graph.h"

namespace hone::testing {

// The milliseconds at which each of `samples` samples is done, as the equations
// of backends/mcm_sim/README.md say: time goes from one end of something to the
// next, and after each, whatever can begin does. Node by node, without spills.
std::vector<double> PipelineByDefinition(const graphs::PartitionGraph& graph,
                                         const graphs::Package& package,
                                         absl::Span<const int32_t> chips,
                                         int32_t samples);

}  // namespace hone::testing

#endif  // HONE_TESTS_BACKENDS_MCM_SIM_PIPELINE_BY_DEFINITION_H_
