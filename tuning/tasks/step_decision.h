#ifndef HONE_TUNING_TASKS_STEP_DECISION_H_
#define HONE_TUNING_TASKS_STEP_DECISION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "backends/cluster_sim/step_simulator.h"
#include "graphs/cluster.h"
#include "graphs/op_graph.h"
#include "graphs/step/device_times.h"
#include "graphs/step/fusion_rules.h"
#include "graphs/step/kernel_graph.h"
#include "tuning/tasks/step_problem.h"

namespace hone::tuning {

// A decision about a step, by node: all that it takes to simulate it.
struct StepDecision {
  std::vector<int32_t> devices;      // [nodes]
  std::vector<uint64_t> priorities;  // [nodes], higher first
  graphs::Fusion fused;              // [nodes]
};

// Returns the decision that an assignment of `problem` stands for.
StepDecision DecisionOf(const StepProblem& problem,
                        absl::Span<const int32_t> values);

// A step as simulated from the graph and a decision alone.
struct SimulatedStep {
  graphs::KernelGraph kernels;
  backends::StepResult result;
};

// Errors: InvalidArgument, which names the node, for a decision of another
// size, a device that the cluster lacks or a fusion that is not legal; those of
// DeviceTimes::Create.
absl::StatusOr<SimulatedStep> SimulateDecision(
    const graphs::OpGraph& graph, const graphs::Cluster& cluster,
    const StepDecision& decision, backends::StepObserver* observer = nullptr);

// Returns the decision as JSON: "assignment", the device of each node,
// "priorities" of each node, "fused", the places of fused nodes, then
// "step_seconds" and "peak_bytes" of each device, and the values that stand for
// it in `problem`: "order", "levels".
std::string PrintStepDecision(const StepProblem& problem,
                              absl::Span<const int32_t> values,
                              const StepDecision& decision,
                              const backends::StepResult& result);

// Reads the first three of those for a graph of `nodes` nodes.
// Errors: InvalidArgument.
absl::StatusOr<StepDecision> ParseStepDecision(absl::string_view json,
                                               size_t nodes);

// Returns the assignment of `problem` that stands for a decision that
// PrintStepDecision wrote, maybe for another cluster; nothing if it does not
// fit.
std::optional<std::vector<int32_t>> ValuesOfDecision(const StepProblem& problem,
                                                     absl::string_view json);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_STEP_DECISION_H_
