#include "graphs/mcm/partition_bounds.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

#include "graphs/device_graph.h"
#include "graphs/ideals.h"
#include "graphs/mcm/chip_loads.h"
#include "graphs/mcm/partition_rules.h"

namespace hone::graphs {
namespace {

// The graph as one to be placed on as many accelerators, without sources.
absl::StatusOr<DeviceGraph> MakeRelaxation(const PartitionGraph& graph) {
  std::vector<DeviceNode> nodes;
  std::vector<DeviceEdge> edges;
  nodes.reserve(graph.size());
  for (size_t i = 0; i < graph.size(); ++i) {
    const PartitionNode& node = graph.nodes()[i];
    const auto id = static_cast<int64_t>(i);
    nodes.push_back({.id = id,
                     .accelerator_latency = node.time,
                     .size_bytes = node.resident_bytes});
    for (const NodeIndex next :
         graph.adjacency().successors(static_cast<NodeIndex>(i))) {
      edges.push_back({.source_id = id,
                       .target_id = static_cast<int64_t>(next),
                       .cost = node.transfer_time});
    }
  }
  return DeviceGraph::Create({.max_accelerator_bytes = graph.memory_bytes(),
                              .accelerators = graph.chips()},
                             std::move(nodes), std::move(edges));
}

// Numbers chips in the order in which they come along the topological order.
Partition InOrder(const PartitionGraph& graph, const Partition& devices) {
  std::vector<int32_t> chip_of(static_cast<size_t>(graph.chips()), -1);
  Partition chips(devices.size());
  int32_t used = 0;
  for (const NodeIndex node : graph.topological_order()) {
    int32_t& chip = chip_of[static_cast<size_t>(devices[node])];
    if (chip < 0) chip = used++;
    chips[node] = chip;
  }
  return chips;
}

void FindPipeline(const PartitionGraph& graph, const StopCondition& stop,
                  PartitionBounds& bounds) {
  // The search asks whether to stop after fixed amounts of work.
  constexpr int64_t kMaxChecks = 20'000;
  constexpr int64_t kMaxIdeals = 60'000;
  const absl::StatusOr<DeviceGraph> relaxed = MakeRelaxation(graph);
  if (!relaxed.ok()) return;
  int64_t checks = 0;
  const absl::StatusOr<Pipeline> found = FindBestPipeline(
      *relaxed, {.max_ideals = kMaxIdeals, .stop = [&] {
                   return ++checks > kMaxChecks || (stop && stop());
                 }});
  if (!found.ok()) return;
  bounds.pipeline = found->max_load;
  Partition chips = InOrder(graph, found->assignment);
  if (CheckPartition(graph, chips).ok())
    bounds.best_pipeline = std::move(chips);
}

}  // namespace

double PartitionBounds::greatest() const {
  return std::max({shared_work, largest_node, pigeonhole, pipeline});
}

PartitionBounds FindPartitionBounds(const PartitionGraph& graph,
                                    const StopCondition& stop) {
  std::vector<double> times;
  times.reserve(graph.size());
  for (const PartitionNode& node : graph.nodes()) times.push_back(node.time);
  std::sort(times.begin(), times.end(), std::greater<>());
  PartitionBounds bounds;
  bounds.shared_work = graph.total_time() / graph.chips();
  bounds.largest_node = times[0];
  // Of the q * chips + 1 largest nodes, the q + 1 smallest take the least.
  const auto chips = static_cast<size_t>(graph.chips());
  for (size_t q = 1; q * chips < times.size(); ++q) {
    double least = 0;
    for (size_t i = q * chips - q; i <= q * chips; ++i) least += times[i];
    bounds.pigeonhole = std::max(bounds.pigeonhole, least);
  }
  FindPipeline(graph, stop, bounds);
  return bounds;
}

}  // namespace hone::graphs
