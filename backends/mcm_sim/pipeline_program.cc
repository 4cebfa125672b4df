#include "backends/mcm_sim/pipeline_program.h"

#include <algorithm>
#include <utility>

namespace hone::backends {

using graphs::NodeIndex;

PipelineProgram MakePipelineProgram(const graphs::PartitionGraph& graph,
                                    const graphs::Package& package,
                                    absl::Span<const int32_t> chips,
                                    absl::Span<const double> spilled_before) {
  constexpr double kMillisecondsPerSecond = 1e3;
  const double overhead = package.op_seconds * kMillisecondsPerSecond;
  const double spill =
      2 * kMillisecondsPerSecond / package.spill_bytes_per_second;
  PipelineProgram program;
  program.steps.resize(static_cast<size_t>(graph.chips()));
  std::vector<size_t> output_of(graph.size());
  std::vector<uint64_t> taken;  // [outputs]: by these chips
  // [sources]: copied by these chips
  std::vector<uint64_t> copied(graph.sources().size());
  for (const NodeIndex node : graph.topological_order()) {
    std::vector<PipelineStep>& steps =
        program.steps[static_cast<size_t>(chips[node])];
    const uint64_t own = uint64_t{1} << chips[node];
    for (const NodeIndex read : graph.adjacency().predecessors(node)) {
      if (chips[read] == chips[node]) continue;
      const size_t output = output_of[read];
      if ((std::exchange(taken[output], taken[output] | own) & own) != 0) {
        continue;
      }
      steps.push_back({PipelineStep::Kind::kTake,
                       program.outputs[output].transfer, output});
    }
    double time =
        graph.node(node).time +
        overhead * static_cast<double>(graph.node(node).origins.size()) +
        spilled_before[node] * spill;
    for (const NodeIndex source : graph.sources_of(node)) {
      const double copy = graph.sources()[source].time;
      if (copy == 0 ||
          (std::exchange(copied[source], copied[source] | own) & own) != 0) {
        continue;
      }
      time += copy + overhead;
    }
    if (!steps.empty() && steps.back().kind == PipelineStep::Kind::kCompute) {
      steps.back().milliseconds += time;
    } else {
      steps.push_back({PipelineStep::Kind::kCompute, time});
    }
    PipelineOutput output = {.node = node,
                             .from = chips[node],
                             .last = chips[node],
                             .transfer = graph.node(node).transfer_time};
    for (const NodeIndex next : graph.adjacency().successors(node)) {
      if (chips[next] == chips[node]) continue;
      output.last = std::max(output.last, chips[next]);
      output.readers |= uint64_t{1} << chips[next];
    }
    if (output.readers == 0) continue;
    output_of[node] = program.outputs.size();
    steps.push_back(
        {PipelineStep::Kind::kSend, output.transfer, program.outputs.size()});
    program.outputs.push_back(output);
    taken.push_back(0);
  }
  return program;
}

}  // namespace hone::backends
