#include "backends/mcm_sim/pipeline_memory.h"

#include <algorithm>
#include <cstddef>

#include "graphs/mcm/chip_loads.h"

namespace hone::backends {
namespace {

using graphs::NodeIndex;
using graphs::PartitionGraph;

// The number of nodes of `chip` that read the output of `node`.
int32_t CountReaders(const PartitionGraph& graph,
                     absl::Span<const int32_t> chips, NodeIndex node,
                     int32_t chip) {
  const absl::Span<const NodeIndex> readers =
      graph.adjacency().successors(node);
  return static_cast<int32_t>(
      std::count_if(readers.begin(), readers.end(),
                    [&](NodeIndex reader) { return chips[reader] == chip; }));
}

}  // namespace

PipelineMemory FindPipelineMemory(const PartitionGraph& graph,
                                  absl::Span<const int32_t> chips) {
  PipelineMemory memory;
  memory.chips.resize(static_cast<size_t>(graph.chips()));
  memory.spilled_before.resize(graph.size());
  const std::vector<double> resident = graphs::ResidentBytes(graph, chips);
  for (size_t c = 0; c < resident.size(); ++c) {
    memory.chips[c].resident = resident[c];
  }
  std::vector<std::vector<NodeIndex>> nodes(memory.chips.size());
  for (const NodeIndex node : graph.topological_order()) {
    nodes[static_cast<size_t>(chips[node])].push_back(node);
    int32_t last = chips[node];
    for (const NodeIndex next : graph.adjacency().successors(node)) {
      last = std::max(last, chips[next]);
    }
    for (int32_t c = chips[node] + 1; c <= last; ++c) {
      memory.chips[static_cast<size_t>(c)].buffers +=
          kPipelineBuffers * graph.node(node).output_bytes;
    }
  }
  // Of each output, the nodes of the chip that is looked at that have yet to
  // read it: 0 again before the next chip is.
  std::vector<int32_t> reads_left(graph.size());
  for (size_t c = 0; c < nodes.size(); ++c) {
    ChipMemory& chip = memory.chips[c];
    const double room = graph.memory_bytes() - chip.resident - chip.buffers;
    double live = 0;
    double over = 0;  // the room, while the last node was executed
    for (const NodeIndex node : nodes[c]) {
      const double made = graph.node(node).output_bytes;
      double working = made;
      for (const NodeIndex read : graph.adjacency().predecessors(node)) {
        const double bytes = graph.node(read).output_bytes;
        working += bytes;
        // From elsewhere: it is taken before the first node that reads it.
        if (chips[read] != chips[node] && reads_left[read] == 0) {
          reads_left[read] = CountReaders(graph, chips, read, chips[node]);
          live += bytes;
        }
      }
      live += made;
      chip.live = std::max(chip.live, live);
      chip.working = std::max(chip.working, working);
      const double over_now = std::max(0.0, live - std::max(room, 0.0));
      memory.spilled_before[node] = std::max(0.0, over_now - over);
      chip.spilled += memory.spilled_before[node];
      over = over_now;
      for (const NodeIndex read : graph.adjacency().predecessors(node)) {
        if (--reads_left[read] == 0) live -= graph.node(read).output_bytes;
      }
      reads_left[node] = CountReaders(graph, chips, node, chips[node]);
      if (reads_left[node] == 0) live -= made;
    }
    chip.excess = std::max(0.0, chip.working - room);
  }
  return memory;
}

}  // namespace hone::backends
