#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_map.h"

#include "graphs/block_graph.h"
#include "graphs/ideal_lattice.h"
#include "graphs/ideals.h"
#include "graphs/max_load.h"
#include "graphs/placements.h"
#include "graphs/stage_search.h"

namespace hone::graphs {
namespace {

// The dynamic program compares all pairs of cuts that are near enough to each
// other: with more blocks, neighbors in the order are gathered first.
constexpr size_t kMaxChunks = 2000;

// Returns `graph` with the blocks of each chunk of `chunk_of` made one. Chunks
// must be intervals of a topological order.
BlockGraph Gather(const BlockGraph& graph,
                  const std::vector<uint32_t>& chunk_of, size_t chunks) {
  BlockGraph result;
  result.blocks.resize(chunks);
  std::vector<Arc> arcs;
  for (size_t i = 0; i < graph.blocks.size(); ++i) {
    const Block& block = graph.blocks[i];
    Block& chunk = result.blocks[chunk_of[i]];
    chunk.accelerator_latency += block.accelerator_latency;
    chunk.cpu_latency += block.cpu_latency;
    chunk.size_bytes += block.size_bytes;
    chunk.supported_on_accelerator &= block.supported_on_accelerator;
    for (const NodeIndex next :
         graph.order.successors(static_cast<NodeIndex>(i))) {
      if (chunk_of[i] != chunk_of[next]) {
        arcs.push_back({chunk_of[i], chunk_of[next]});
      }
    }
  }
  std::sort(arcs.begin(), arcs.end());
  arcs.erase(std::unique(arcs.begin(), arcs.end()), arcs.end());
  result.order = Adjacency(chunks, arcs);
  for (const Transfer& transfer : graph.transfers) {
    Transfer moved = {chunk_of[transfer.source], {}, transfer.cost};
    for (const uint32_t target : transfer.targets) {
      if (chunk_of[target] != moved.source) {
        moved.targets.push_back(chunk_of[target]);
      }
    }
    if (moved.targets.empty()) continue;
    std::sort(moved.targets.begin(), moved.targets.end());
    moved.targets.erase(std::unique(moved.targets.begin(), moved.targets.end()),
                        moved.targets.end());
    result.transfers.push_back(std::move(moved));
  }
  return result;
}

// Topological order that takes a ready block as soon as (depth first) or as
// late as possible (breadth first).
std::vector<NodeIndex> BreadthFirstOrder(const Adjacency& graph) {
  std::vector<size_t> missing(graph.size());
  std::vector<NodeIndex> order;
  order.reserve(graph.size());
  for (size_t i = 0; i < graph.size(); ++i) {
    missing[i] = graph.predecessors(static_cast<NodeIndex>(i)).size();
    if (missing[i] == 0) order.push_back(static_cast<NodeIndex>(i));
  }
  for (size_t i = 0; i < order.size(); ++i) {
    for (const NodeIndex next : graph.successors(order[i])) {
      if (--missing[next] == 0) order.push_back(next);
    }
  }
  return order;
}

// Depth first from the ends.
std::vector<NodeIndex> ReverseOrder(const Adjacency& graph) {
  std::vector<Arc> arcs;
  for (size_t i = 0; i < graph.size(); ++i) {
    const auto node = static_cast<NodeIndex>(i);
    for (const NodeIndex next : graph.successors(node)) {
      arcs.push_back({next, node});
    }
  }
  std::vector<NodeIndex> order =
      TopologicalOrder(Adjacency(graph.size(), arcs));
  std::reverse(order.begin(), order.end());
  return order;
}

// The best pipeline of which every stage is an interval of `order`, if it is
// better than best_load.
void CutOrder(const DeviceGraph& graph, const BlockGraph& blocks,
              const std::vector<NodeIndex>& order, const StopCondition& stop,
              double& best_load, std::optional<Placement>& best) {
  const size_t chunks = std::min(kMaxChunks, order.size());
  std::vector<uint32_t> chunk_of(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    chunk_of[order[i]] = static_cast<uint32_t>(i * chunks / order.size());
  }
  const BlockGraph gathered = Gather(blocks, chunk_of, chunks);
  std::vector<NodeIndex> chain(chunks);
  std::iota(chain.begin(), chain.end(), 0u);
  BestStages stages;
  stages.max_load = best_load;
  if (!ImproveStages(gathered, graph.limits(), IdealLattice::Chain(chain), stop,
                     stages)
           .ok() ||
      stages.device_of.empty()) {
    return;
  }
  Placement placement;
  placement.reserve(graph.size());
  for (const uint32_t block : blocks.block_of) {
    placement.push_back(stages.device_of[chunk_of[block]]);
  }
  if (!CheckAssignment(graph, placement, Contiguity::kPipeline).ok()) return;
  best_load = stages.max_load;
  best = std::move(placement);
}

}  // namespace

std::optional<Placement> PlaceSegments(const DeviceGraph& graph,
                                       const StopCondition& stop) {
  std::optional<Placement> best;
  double best_load = std::numeric_limits<double>::infinity();
  for (const BackwardDirection direction :
       {BackwardDirection::kReverse, BackwardDirection::kSame}) {
    const BlockGraph blocks = GatherBlocks(graph, direction);
    for (const auto& order :
         {TopologicalOrder(blocks.order), ReverseOrder(blocks.order),
          BreadthFirstOrder(blocks.order)}) {
      CutOrder(graph, blocks, order, stop, best_load, best);
    }
    const bool has_backward =
        std::any_of(graph.nodes().begin(), graph.nodes().end(),
                    [](const DeviceNode& node) { return node.is_backward; });
    if (!has_backward) break;
  }
  return best;
}

std::optional<Placement> PlaceExactly(const DeviceGraph& graph,
                                      const StopCondition& stop) {
  // The search asks whether to stop after fixed numbers of ideals and pairs, so
  // that counting the questions limits its work.
  constexpr int64_t kMaxChecks = 20'000;
  constexpr int64_t kMaxIdeals = 60'000;
  int64_t checks = 0;
  const absl::StatusOr<Pipeline> pipeline = FindBestPipeline(
      graph, {.max_ideals = kMaxIdeals, .stop = [&] {
                return ++checks > kMaxChecks || (stop && stop());
              }});
  if (!pipeline.ok()) return std::nullopt;
  return pipeline->assignment;
}

}  // namespace hone::graphs
