#include "graphs/cut_order.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "graphs/ideal_lattice.h"
#include "graphs/max_load.h"
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

}  // namespace

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

}  // namespace hone::graphs
