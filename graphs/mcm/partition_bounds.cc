#include "graphs/mcm/partition_bounds.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

namespace hone::graphs {

double PartitionBounds::greatest() const {
  return std::max({shared_work, largest_node, pigeonhole});
}

PartitionBounds FindPartitionBounds(const PartitionGraph& graph) {
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
  return bounds;
}

}  // namespace hone::graphs
