#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "graphs/block_graph.h"
#include "graphs/cut_order.h"
#include "graphs/metis_partition.h"
#include "graphs/placements.h"

namespace hone::graphs {
namespace {

// The blocks in `parts` parts of about equal time with few transfers between
// them; empty if METIS fails.
std::vector<int32_t> Partition(const BlockGraph& blocks, int32_t parts) {
  std::vector<double> work;
  for (const Block& block : blocks.blocks) {
    work.push_back(block.accelerator_latency);
  }
  std::vector<WeightedPair> pairs;
  for (const Transfer& transfer : blocks.transfers) {
    for (const uint32_t target : transfer.targets) {
      pairs.push_back({transfer.source, target, transfer.cost});
    }
  }
  return PartitionByMetis(work, pairs, parts);
}

// A topological order of the blocks that stays in the earliest part, by the
// mean place of its blocks, as long as one of its blocks is ready.
std::vector<NodeIndex> OrderByPart(const Adjacency& graph,
                                   const std::vector<int32_t>& part,
                                   size_t parts) {
  const std::vector<NodeIndex> order = TopologicalOrder(graph);
  std::vector<double> sum(parts);
  std::vector<double> count(parts);
  std::vector<size_t> place(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    sum[static_cast<size_t>(part[order[i]])] += static_cast<double>(i);
    ++count[static_cast<size_t>(part[order[i]])];
  }
  using Ready = std::pair<double, size_t>;  // mean place of the part, place
  const auto entry = [&](NodeIndex block) {
    const auto p = static_cast<size_t>(part[block]);
    return Ready(sum[p] / count[p], place[block]);
  };
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  std::vector<size_t> missing(order.size());
  for (const NodeIndex block : order) {
    missing[block] = graph.predecessors(block).size();
    if (missing[block] == 0) ready.push(entry(block));
  }
  std::vector<NodeIndex> result;
  result.reserve(order.size());
  while (!ready.empty()) {
    const NodeIndex block = order[ready.top().second];
    ready.pop();
    result.push_back(block);
    for (const NodeIndex next : graph.successors(block)) {
      if (--missing[next] == 0) ready.push(entry(next));
    }
  }
  return result;
}

}  // namespace

std::optional<Placement> PlaceByMetis(const DeviceGraph& graph,
                                      const StopCondition& stop) {
  const int32_t parts = graph.limits().accelerators;
  if (parts < 2) return std::nullopt;
  std::optional<Placement> best;
  double best_load = std::numeric_limits<double>::infinity();
  for (const BackwardDirection direction :
       {BackwardDirection::kReverse, BackwardDirection::kSame}) {
    const BlockGraph blocks = GatherBlocks(graph, direction);
    const std::vector<int32_t> part = Partition(blocks, parts);
    if (part.empty()) continue;
    CutOrder(graph, blocks,
             OrderByPart(blocks.order, part, static_cast<size_t>(parts)), stop,
             best_load, best);
    const bool has_backward =
        std::any_of(graph.nodes().begin(), graph.nodes().end(),
                    [](const DeviceNode& node) { return node.is_backward; });
    if (!has_backward) break;
  }
  return best;
}

}  // namespace hone::graphs
