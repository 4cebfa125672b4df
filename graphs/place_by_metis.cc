#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <queue>
#include <utility>
#include <vector>

#include "graphs/block_graph.h"
#include "graphs/cut_order.h"
#include "graphs/max_load.h"
#include "graphs/placements.h"
#include "metis.h"

namespace hone::graphs {
namespace {

// Returns integers up to `most` in proportion to `values`: METIS counts in
// integers.
std::vector<idx_t> Scaled(const std::vector<double>& values, double most,
                          idx_t least) {
  const double largest =
      values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  std::vector<idx_t> scaled;
  scaled.reserve(values.size());
  for (const double value : values) {
    const double share = largest > 0 ? value / largest : 0;
    scaled.push_back(
        std::max(least, static_cast<idx_t>(std::lround(share * most))));
  }
  return scaled;
}

// The blocks in `parts` parts of about equal time with few transfers between
// them; empty if METIS fails.
std::vector<idx_t> Partition(const BlockGraph& blocks, idx_t parts) {
  std::vector<std::vector<std::pair<idx_t, double>>> neighbors(
      blocks.blocks.size());
  for (const Transfer& transfer : blocks.transfers) {
    for (const uint32_t target : transfer.targets) {
      neighbors[transfer.source].emplace_back(target, transfer.cost);
      neighbors[target].emplace_back(transfer.source, transfer.cost);
    }
  }
  std::vector<idx_t> begin = {0};
  std::vector<idx_t> ends;
  std::vector<double> costs;
  std::vector<double> work;
  for (size_t i = 0; i < neighbors.size(); ++i) {
    std::sort(neighbors[i].begin(), neighbors[i].end());
    for (const auto& [end, cost] : neighbors[i]) {
      if (static_cast<idx_t>(ends.size()) > begin.back() &&
          ends.back() == end) {
        costs.back() += cost;
        continue;
      }
      ends.push_back(end);
      costs.push_back(cost);
    }
    begin.push_back(static_cast<idx_t>(ends.size()));
    work.push_back(blocks.blocks[i].accelerator_latency);
  }
  // So that sums over all blocks fit.
  const double most =
      std::min(10'000.0, 1e9 / static_cast<double>(work.size()));
  std::vector<idx_t> weights = Scaled(work, most, 1);
  std::vector<idx_t> edge_weights = Scaled(costs, 1000, 1);
  auto count = static_cast<idx_t>(work.size());
  idx_t constraints = 1;
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  options[METIS_OPTION_NUMBERING] = 0;
  idx_t cut = 0;
  std::vector<idx_t> part(work.size());
  // METIS draws from the C library's generator, which threads share.
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  const int result =
      METIS_PartGraphKway(&count, &constraints, begin.data(), ends.data(),
                          weights.data(), nullptr, edge_weights.data(), &parts,
                          nullptr, nullptr, options, &cut, part.data());
  if (result != METIS_OK) part.clear();
  return part;
}

// A topological order of the blocks that stays in the earliest part, by the
// mean place of its blocks, as long as one of its blocks is ready.
std::vector<NodeIndex> OrderByPart(const Adjacency& graph,
                                   const std::vector<idx_t>& part,
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
  const auto parts = static_cast<idx_t>(graph.limits().accelerators);
  if (parts < 2) return std::nullopt;
  std::optional<Placement> best;
  double best_load = std::numeric_limits<double>::infinity();
  for (const BackwardDirection direction :
       {BackwardDirection::kReverse, BackwardDirection::kSame}) {
    const BlockGraph blocks = GatherBlocks(graph, direction);
    // METIS prints complaints to stdout about graphs of few nodes.
    if (blocks.blocks.size() < 4 * static_cast<size_t>(parts)) continue;
    const std::vector<idx_t> part = Partition(blocks, parts);
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
