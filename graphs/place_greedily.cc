#include <algorithm>
#include <cstddef>
#include <utility>

#include "graphs/block_graph.h"
#include "graphs/max_load.h"
#include "graphs/placements.h"

namespace hone::graphs {
namespace {

// The devices of a graph, filled one after the other.
class Filling {
 public:
  Filling(const DeviceLimits& limits, double share)
      : limits_(limits), share_(share) {}

  // Puts `block` on the open device, or on the next one where it would exceed
  // its share or does not fit. Returns its device, or nothing if none is left.
  std::optional<int32_t> Add(const Block& block) {
    const bool is_open = kind_ != Kind::kNone;
    const bool can_stay =
        is_open && (kind_ == Kind::kCpu ||
                    (block.supported_on_accelerator &&
                     FitsAccelerator(limits_, bytes_ + block.size_bytes)));
    const bool wants_accelerator = block.supported_on_accelerator &&
                                   accelerators_ < limits_.accelerators &&
                                   FitsAccelerator(limits_, block.size_bytes);
    const bool is_full =
        kind_ == Kind::kCpu || load_ + block.accelerator_latency / 2 > share_;
    if (can_stay && !(wants_accelerator && is_full)) return Put(block);
    if (wants_accelerator) {
      Open(Kind::kAccelerator, accelerators_++);
    } else if (cpus_ < limits_.cpus) {
      Open(Kind::kCpu, limits_.accelerators + cpus_++);
    } else {
      return std::nullopt;
    }
    return Put(block);
  }

 private:
  enum class Kind { kNone, kAccelerator, kCpu };

  void Open(Kind kind, int32_t device) {
    kind_ = kind;
    device_ = device;
    load_ = bytes_ = 0;
  }
  int32_t Put(const Block& block) {
    load_ += block.accelerator_latency;
    bytes_ += block.size_bytes;
    return device_;
  }

  const DeviceLimits& limits_;
  const double share_;
  Kind kind_ = Kind::kNone;
  int32_t device_ = 0;
  int32_t accelerators_ = 0;  // opened so far
  int32_t cpus_ = 0;
  double load_ = 0;  // of the open device
  double bytes_ = 0;
};

}  // namespace

std::optional<Placement> PlaceGreedily(const DeviceGraph& graph) {
  BlockGraph blocks = GatherBlocks(graph, BackwardDirection::kReverse);
  if (std::any_of(graph.nodes().begin(), graph.nodes().end(),
                  [](const DeviceNode& node) { return node.is_backward; })) {
    // The direction of the backward pass that leaves more choice.
    BlockGraph same = GatherBlocks(graph, BackwardDirection::kSame);
    if (same.blocks.size() > blocks.blocks.size()) blocks = std::move(same);
  }
  double total = 0;
  for (const Block& block : blocks.blocks) {
    if (block.supported_on_accelerator) total += block.accelerator_latency;
  }
  const DeviceLimits& limits = graph.limits();
  Filling filling(limits, total / std::max(1, limits.accelerators));
  std::vector<int32_t> device_of(blocks.blocks.size());
  for (const NodeIndex block : TopologicalOrder(blocks.order)) {
    const std::optional<int32_t> device = filling.Add(blocks.blocks[block]);
    if (!device) return std::nullopt;
    device_of[block] = *device;
  }
  Placement placement;
  placement.reserve(graph.size());
  for (const uint32_t block : blocks.block_of) {
    placement.push_back(device_of[block]);
  }
  return placement;
}

}  // namespace hone::graphs
