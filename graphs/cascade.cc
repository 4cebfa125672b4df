#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "graphs/placement_moves.h"

namespace hone::graphs {
namespace {

// Nodes that flow at most.
constexpr size_t kMaxNodes = 512;

}  // namespace

// Blocks on their way from device to device, in one direction.
class PlacementMoves::Cascade {
 public:
  Cascade(const DeviceGraph& graph, const PlacementState& state,
          const Units& units, bool forward)
      : graph_(graph), state_(state), units_(units), forward_(forward) {}

  // The blocks in the order in which they moved, and where each is by now.
  const std::vector<uint32_t>& moved() const { return moved_; }
  int32_t DeviceOf(uint32_t block) const {
    const auto found = device_of_.find(block);
    return found != device_of_.end()
               ? found->second
               : state_.assignment()[units_.Members(block).front()];
  }

  // Moves `first` and the blocks that have to go with it to the device `to`.
  // Returns false if that takes too many, or `to` does not support one.
  bool Push(uint32_t first, int32_t to) {
    arrived_ = 0;
    const int32_t from = DeviceOf(first);
    std::vector<uint32_t> open = {first};
    while (!open.empty()) {
      const uint32_t block = open.back();
      open.pop_back();
      if (DeviceOf(block) != from) continue;
      if (!Move(block, to)) return false;
      for (const uint32_t next : After(block, forward_)) {
        if (DeviceOf(next) == from) open.push_back(next);
      }
    }
    return true;
  }

  // Moves blocks from the far end of `from` to the device `to` until they have
  // taken `work` off `from`. Returns false as Push does, or if there are not
  // enough.
  bool Drain(int32_t from, double work, int32_t to, Rng& rng) {
    arrived_ = 0;
    // Blocks with none of the same device behind them.
    std::vector<uint32_t> ends;
    const auto offer = [&](uint32_t block) {
      if (DeviceOf(block) != from) return;
      for (const uint32_t next : After(block, forward_)) {
        if (DeviceOf(next) == from) return;
      }
      ends.push_back(block);
    };
    for (const NodeIndex node : state_.boundary(from)) {
      offer(units_.graph.block_of[node]);
    }
    while (work > 0) {
      if (ends.empty()) return false;
      std::swap(ends[rng.Below(ends.size())], ends.back());
      const uint32_t block = ends.back();
      ends.pop_back();
      // A block of several nodes may have been offered more than once.
      if (DeviceOf(block) != from) continue;
      if (!Move(block, to)) return false;
      work -= Work(block, from);
      for (const uint32_t before : After(block, !forward_)) offer(before);
    }
    return true;
  }

  // The work that the last call moved, on the device where it is now.
  double arrived() const { return arrived_; }

 private:
  absl::Span<const uint32_t> After(uint32_t block, bool forward) const {
    return forward ? units_.graph.order.successors(block)
                   : units_.graph.order.predecessors(block);
  }
  double Work(uint32_t block, int32_t device) const {
    const Block& of = units_.graph.blocks[block];
    return graph_.is_accelerator(device) ? of.accelerator_latency
                                         : of.cpu_latency;
  }
  bool Move(uint32_t block, int32_t to) {
    nodes_ += units_.Members(block).size();
    if (nodes_ > kMaxNodes) return false;
    if (graph_.is_accelerator(to) &&
        !units_.graph.blocks[block].supported_on_accelerator) {
      return false;
    }
    if (device_of_.insert_or_assign(block, to).second) moved_.push_back(block);
    arrived_ += Work(block, to);
    return true;
  }

  const DeviceGraph& graph_;
  const PlacementState& state_;
  const Units& units_;
  const bool forward_;
  absl::flat_hash_map<uint32_t, int32_t> device_of_;  // of moved blocks
  std::vector<uint32_t> moved_;
  size_t nodes_ = 0;
  double arrived_ = 0;
};

void PlacementMoves::Flow(const PlacementState& state, const Units& units,
                          NodeIndex node, absl::Span<const int32_t> order,
                          Rng& rng, std::vector<NodeMove>& moves) const {
  const double limit = state.max_load();
  const bool forward = rng.Below(2) == 0;
  Cascade cascade(graph_, state, units, forward);
  int32_t from = state.assignment()[node];
  double work = 0;
  auto place = static_cast<size_t>(std::find(order.begin(), order.end(), from) -
                                   order.begin());
  do {
    if (forward ? place + 1 == order.size() : place == 0) return;
    place = forward ? place + 1 : place - 1;
    const int32_t to = order[place];
    const bool done = cascade.moved().empty()
                          ? cascade.Push(units.graph.block_of[node], to)
                          : cascade.Drain(from, work, to, rng);
    if (!done) return;
    work = state.loads()[static_cast<size_t>(to)] + cascade.arrived() - limit;
    from = to;
  } while (work > 0);
  for (const uint32_t block : cascade.moved()) {
    MoveBlock(state, units, block, cascade.DeviceOf(block), moves);
  }
}

}  // namespace hone::graphs
