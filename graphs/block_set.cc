#include "graphs/block_set.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "graphs/max_load.h"

namespace hone::graphs {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Arcs from blocks to the transfers that they are the source or a target of.
Adjacency TouchingTransfers(const BlockGraph& graph) {
  std::vector<Arc> arcs;
  for (size_t i = 0; i < graph.transfers.size(); ++i) {
    const Transfer& transfer = graph.transfers[i];
    const auto index = static_cast<uint32_t>(i);
    arcs.push_back({transfer.source, index});
    for (const uint32_t target : transfer.targets) {
      arcs.push_back({target, index});
    }
  }
  return Adjacency(std::max(graph.blocks.size(), graph.transfers.size()), arcs);
}

}  // namespace

BlockSet::BlockSet(const BlockGraph& graph, const DeviceLimits& limits)
    : graph_(graph),
      limits_(limits),
      touching_(TouchingTransfers(graph)),
      inside_(graph.blocks.size()),
      targets_inside_(graph.transfers.size()) {}

bool BlockSet::IsCut(uint32_t transfer) const {
  const Transfer& t = graph_.transfers[transfer];
  return inside_[t.source] ? targets_inside_[transfer] < t.targets.size()
                           : targets_inside_[transfer] > 0;
}

void BlockSet::Push(uint32_t block) {
  stack_.push_back({block, totals_});
  const Block& added = graph_.blocks[block];
  totals_.accelerator_latency += added.accelerator_latency;
  totals_.cpu_latency += added.cpu_latency;
  totals_.size_bytes += added.size_bytes;
  totals_.supported &= added.supported_on_accelerator;
  const absl::Span<const uint32_t> transfers = touching_.successors(block);
  for (const uint32_t i : transfers) {
    if (IsCut(i)) totals_.transfer -= graph_.transfers[i].cost;
  }
  inside_[block] = true;
  for (const uint32_t i : transfers) {
    if (graph_.transfers[i].source != block) ++targets_inside_[i];
    if (IsCut(i)) totals_.transfer += graph_.transfers[i].cost;
  }
}

void BlockSet::Pop() {
  const uint32_t block = stack_.back().block;
  // The totals as they were, so that rounding leaves no trace.
  totals_ = stack_.back().before;
  stack_.pop_back();
  inside_[block] = false;
  for (const uint32_t i : touching_.successors(block)) {
    if (graph_.transfers[i].source != block) --targets_inside_[i];
  }
}

double BlockSet::accelerator_latency() const {
  const bool fits = limits_.accelerators > 0 && totals_.supported &&
                    FitsAccelerator(limits_, totals_.size_bytes);
  return fits ? totals_.accelerator_latency : kInfinity;
}

double BlockSet::cpu_load() const {
  return limits_.cpus > 0 ? totals_.cpu_latency : kInfinity;
}

}  // namespace hone::graphs
