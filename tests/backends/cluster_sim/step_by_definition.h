#ifndef HONE_TESTS_BACKENDS_CLUSTER_SIM_STEP_BY_DEFINITION_H_
#define HONE_TESTS_BACKENDS_CLUSTER_SIM_STEP_BY_DEFINITION_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

#include "backends/cluster_sim/step_simulator.h"
#include "graphs/step/device_times.h"
#include "graphs/step/kernel_graph.h"

namespace hone::testing {

// A step as the comment of StepSimulator defines it, slowly: everything that
// may happen is looked at again after everything that happens, and memory is
// counted afterwards.
backends::StepResult StepByDefinition(const graphs::KernelGraph& kernels,
                                      const graphs::DeviceTimes& times,
                                      absl::Span<const int32_t> devices,
                                      absl::Span<const uint64_t> priorities);

}  // namespace hone::testing

#endif  // HONE_TESTS_BACKENDS_CLUSTER_SIM_STEP_BY_DEFINITION_H_
