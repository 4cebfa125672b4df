#include "graphs/block_graph.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

#include "graphs/max_load.h"

namespace hone::graphs {
namespace {

// Disjoint sets 0 … size-1 that can be merged.
class Partition {
 public:
  explicit Partition(size_t size) : parent_(size) {
    std::iota(parent_.begin(), parent_.end(), 0u);
  }
  uint32_t Find(uint32_t element) {
    while (parent_[element] != element) {
      parent_[element] = parent_[parent_[element]];
      element = parent_[element];
    }
    return element;
  }
  // The merged set keeps the number of `kept`.
  void Merge(uint32_t merged, uint32_t kept) {
    parent_[Find(merged)] = Find(kept);
  }

 private:
  std::vector<uint32_t> parent_;
};

// Renumbers the sets 0 … count-1 in the order of their first elements and
// returns the set of each element.
std::vector<uint32_t> Numbered(Partition& partition, size_t size,
                               size_t& count) {
  constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  std::vector<uint32_t> number(size, kNone);
  std::vector<uint32_t> set_of(size);
  count = 0;
  for (size_t i = 0; i < size; ++i) {
    uint32_t& entry = number[partition.Find(static_cast<uint32_t>(i))];
    if (entry == kNone) entry = static_cast<uint32_t>(count++);
    set_of[i] = entry;
  }
  return set_of;
}

// The distinct arcs between blocks that the order of ideals must respect.
std::vector<Arc> OrderArcs(const DeviceGraph& graph,
                           const std::vector<uint32_t>& block_of,
                           BackwardDirection direction) {
  std::vector<Arc> arcs;
  for (size_t i = 0; i < graph.size(); ++i) {
    const auto source = static_cast<NodeIndex>(i);
    const bool backward = graph.node(source).is_backward;
    for (const NodeIndex target : graph.adjacency().successors(source)) {
      if (graph.node(target).is_backward != backward) continue;
      Arc arc = {block_of[source], block_of[target]};
      if (arc.source == arc.target) continue;
      if (backward && direction == BackwardDirection::kReverse) {
        std::swap(arc.source, arc.target);
      }
      arcs.push_back(arc);
    }
  }
  std::sort(arcs.begin(), arcs.end());
  arcs.erase(std::unique(arcs.begin(), arcs.end()), arcs.end());
  return arcs;
}

std::vector<Block> SumBlocks(const DeviceGraph& graph,
                             const std::vector<uint32_t>& block_of,
                             size_t count) {
  std::vector<Block> blocks(count);
  for (size_t i = 0; i < graph.size(); ++i) {
    const DeviceNode& node = graph.nodes()[i];
    Block& block = blocks[block_of[i]];
    block.accelerator_latency += node.accelerator_latency;
    block.cpu_latency += node.cpu_latency;
    block.size_bytes += node.size_bytes;
    block.supported_on_accelerator &= node.supported_on_accelerator;
  }
  return blocks;
}

// Merges blocks that cost nothing with their only neighbor, again and again.
void MergeFreeBlocks(const DeviceGraph& graph,
                     const std::vector<uint32_t>& block_of,
                     std::vector<Block> blocks, Partition& partition) {
  double total_bytes = 0;
  for (const Block& block : blocks) total_bytes += block.size_bytes;
  const bool memory_suffices = FitsAccelerator(graph.limits(), total_bytes);
  const auto is_free = [&](const Block& block) {
    return block.accelerator_latency == 0 && block.cpu_latency == 0 &&
           block.supported_on_accelerator &&
           (memory_suffices || block.size_bytes == 0);
  };
  std::vector<absl::flat_hash_set<uint32_t>> neighbors(blocks.size());
  for (size_t i = 0; i < graph.size(); ++i) {
    const uint32_t source = block_of[i];
    for (const NodeIndex successor :
         graph.adjacency().successors(static_cast<NodeIndex>(i))) {
      const uint32_t target = block_of[successor];
      if (source == target) continue;
      neighbors[source].insert(target);
      neighbors[target].insert(source);
    }
  }
  std::vector<uint32_t> open(blocks.size());
  std::iota(open.begin(), open.end(), 0u);
  while (!open.empty()) {
    const uint32_t block = open.back();
    open.pop_back();
    if (neighbors[block].size() != 1 || !is_free(blocks[block])) continue;
    const uint32_t kept = *neighbors[block].begin();
    partition.Merge(block, kept);
    blocks[kept].size_bytes += blocks[block].size_bytes;
    neighbors[block].clear();
    neighbors[kept].erase(block);
    open.push_back(kept);
  }
}

std::vector<Transfer> GatherTransfers(const DeviceGraph& graph,
                                      const std::vector<uint32_t>& block_of) {
  std::map<std::pair<uint32_t, std::vector<uint32_t>>, double> costs;
  for (size_t i = 0; i < graph.size(); ++i) {
    const auto node = static_cast<NodeIndex>(i);
    if (graph.output_cost(node) == 0) continue;
    std::vector<uint32_t> targets;
    for (const NodeIndex successor : graph.adjacency().successors(node)) {
      if (block_of[successor] != block_of[i]) {
        targets.push_back(block_of[successor]);
      }
    }
    if (targets.empty()) continue;
    std::sort(targets.begin(), targets.end());
    targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
    costs[{block_of[i], std::move(targets)}] += graph.output_cost(node);
  }
  std::vector<Transfer> transfers;
  transfers.reserve(costs.size());
  for (const auto& [ends, cost] : costs) {
    transfers.push_back({ends.first, ends.second, cost});
  }
  return transfers;
}

// The color class of each node; `count` gets their number.
std::vector<uint32_t> ColorClasses(const DeviceGraph& graph, size_t& count) {
  Partition nodes(graph.size());
  absl::flat_hash_map<int64_t, uint32_t> first_of;
  for (size_t i = 0; i < graph.size(); ++i) {
    const DeviceNode& node = graph.nodes()[i];
    if (!node.color_class.has_value()) continue;
    const auto index = static_cast<uint32_t>(i);
    nodes.Merge(index,
                first_of.try_emplace(*node.color_class, index).first->second);
  }
  return Numbered(nodes, graph.size(), count);
}

// The graph of `count` blocks, with free ones merged.
BlockGraph MakeBlocks(const DeviceGraph& graph, std::vector<uint32_t> block_of,
                      size_t count, BackwardDirection direction) {
  Partition blocks(count);
  MergeFreeBlocks(graph, block_of, SumBlocks(graph, block_of, count), blocks);
  const size_t before = count;
  const std::vector<uint32_t> number = Numbered(blocks, before, count);
  for (uint32_t& block : block_of) block = number[block];

  BlockGraph result;
  result.order = Adjacency(count, OrderArcs(graph, block_of, direction));
  result.blocks = SumBlocks(graph, block_of, count);
  result.transfers = GatherTransfers(graph, block_of);
  result.block_of = std::move(block_of);
  return result;
}

}  // namespace

BlockGraph GatherBlocks(const DeviceGraph& graph, BackwardDirection direction) {
  size_t count = 0;
  std::vector<uint32_t> block_of = ColorClasses(graph, count);
  // Nodes of a cycle between color classes.
  const std::vector<uint32_t> component =
      StrongComponents(Adjacency(count, OrderArcs(graph, block_of, direction)));
  for (uint32_t& block : block_of) block = component[block];
  count = *std::max_element(block_of.begin(), block_of.end()) + size_t{1};
  return MakeBlocks(graph, std::move(block_of), count, direction);
}

BlockGraph GatherColorClasses(const DeviceGraph& graph) {
  size_t count = 0;
  std::vector<uint32_t> block_of = ColorClasses(graph, count);
  return MakeBlocks(graph, std::move(block_of), count,
                    BackwardDirection::kReverse);
}

}  // namespace hone::graphs
