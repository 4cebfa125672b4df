#include "graphs/placement_moves.h"

#include <algorithm>
#include <cmath>

namespace hone::graphs {
namespace {

constexpr int kMaxDraws = 16;
// Blocks that are shifted together at most, and their nodes.
constexpr size_t kMaxShift = 32;
constexpr size_t kMaxShiftNodes = 64;

}  // namespace

PlacementMoves::Units::Units(BlockGraph gathered)
    : graph(std::move(gathered)),
      begin(graph.blocks.size() + 1),
      nodes(graph.block_of.size()) {
  for (const uint32_t block : graph.block_of) ++begin[block + size_t{1}];
  for (size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  std::vector<size_t> next(begin.begin(), begin.end() - 1);
  for (size_t i = 0; i < nodes.size(); ++i) {
    nodes[next[graph.block_of[i]]++] = static_cast<NodeIndex>(i);
  }
}

PlacementMoves::PlacementMoves(const DeviceGraph& graph, Contiguity contiguity)
    : graph_(graph), contiguity_(contiguity) {
  if (contiguity != Contiguity::kPipeline) {
    units_.emplace_back(GatherColorClasses(graph));
    return;
  }
  units_.emplace_back(GatherBlocks(graph, BackwardDirection::kReverse));
  for (const DeviceNode& node : graph.nodes()) {
    if (!node.is_backward) continue;
    units_.emplace_back(GatherBlocks(graph, BackwardDirection::kSame));
    break;
  }
}

int32_t PlacementMoves::PickDevice(const PlacementState& state,
                                   Rng& rng) const {
  const absl::Span<const double> loads = state.loads();
  if (rng.Below(8) < 5) {
    return static_cast<int32_t>(std::max_element(loads.begin(), loads.end()) -
                                loads.begin());
  }
  return state.assignment()[rng.Below(graph_.size())];
}

NodeIndex PlacementMoves::PickNode(const PlacementState& state, int32_t device,
                                   Rng& rng) const {
  const absl::Span<const NodeIndex> boundary = state.boundary(device);
  if (boundary.empty() || rng.Below(8) == 0) {
    return static_cast<NodeIndex>(rng.Below(graph_.size()));
  }
  NodeIndex node = boundary[rng.Below(boundary.size())];
  // A walk into the device, so that larger pieces are shifted, too.
  while (rng.Below(2) == 0) {
    const auto successors = graph_.adjacency().successors(node);
    const auto predecessors = graph_.adjacency().predecessors(node);
    const size_t degree = successors.size() + predecessors.size();
    if (degree == 0) break;
    const size_t pick = rng.Below(degree);
    const NodeIndex next = pick < successors.size()
                               ? successors[pick]
                               : predecessors[pick - successors.size()];
    if (state.assignment()[next] != device) break;
    node = next;
  }
  return node;
}

void PlacementMoves::MoveBlock(const PlacementState& state, const Units& units,
                               uint32_t block, int32_t device,
                               std::vector<NodeMove>& moves) const {
  for (const NodeIndex node : units.Members(block)) {
    if (state.assignment()[node] != device) moves.emplace_back(node, device);
  }
}

// Moves the block of `node` to the device before or after its own in `order`,
// and with it the blocks of its device that precede or follow it.
void PlacementMoves::Shift(const PlacementState& state, const Units& units,
                           NodeIndex node, absl::Span<const int32_t> order,
                           Rng& rng, std::vector<NodeMove>& moves) const {
  const int32_t from = state.assignment()[node];
  const auto place = static_cast<size_t>(
      std::find(order.begin(), order.end(), from) - order.begin());
  const bool forward = rng.Below(2) == 0;
  if (forward ? place + 1 == order.size() : place == 0) return;
  int32_t to = order[forward ? place + 1 : place - 1];
  if (rng.Below(4) == 0) {
    // A device without nodes can come anywhere.
    const auto any = static_cast<int32_t>(
        rng.Below(static_cast<uint64_t>(graph_.device_count())));
    if (state.node_count(any) == 0) to = any;
  }
  std::vector<uint32_t> open = {units.graph.block_of[node]};
  std::vector<uint32_t> moved = open;
  size_t nodes = 0;
  while (!open.empty()) {
    const uint32_t block = open.back();
    open.pop_back();
    if (graph_.is_accelerator(to) &&
        !units.graph.blocks[block].supported_on_accelerator) {
      return;
    }
    nodes += units.Members(block).size();
    if (moved.size() > 1 && nodes > kMaxShiftNodes) return;
    const auto next = forward ? units.graph.order.successors(block)
                              : units.graph.order.predecessors(block);
    for (const NodeIndex other : next) {
      if (state.assignment()[units.Members(other).front()] != from) continue;
      // Shifts are small: a linear search is faster than a set.
      if (std::find(moved.begin(), moved.end(), other) != moved.end()) continue;
      if (moved.size() == kMaxShift) return;
      moved.push_back(other);
      open.push_back(other);
    }
  }
  for (const uint32_t block : moved) MoveBlock(state, units, block, to, moves);
}

void PlacementMoves::Propose(const PlacementState& state, Rng& rng,
                             std::vector<NodeMove>& moves) const {
  moves.clear();
  if (graph_.device_count() < 2) return;
  // The direction that leaves more choice.
  bool same_direction =
      units_.back().graph.blocks.size() > units_.front().graph.blocks.size();
  const std::vector<int32_t> order = state.DeviceOrder(same_direction);
  const Units& units = units_[same_direction ? units_.size() - 1 : 0];
  const auto devices = static_cast<uint64_t>(graph_.device_count());
  for (int draw = 0; draw < kMaxDraws && moves.empty(); ++draw) {
    const int32_t picked = PickDevice(state, rng);
    const NodeIndex node = PickNode(state, picked, rng);
    const uint32_t block = units.graph.block_of[node];
    const int32_t from = state.assignment()[node];
    const uint64_t kind = rng.Below(8);
    if (contiguity_ == Contiguity::kPipeline && kind == 0 &&
        rng.Below(4) == 0) {
      Flow(state, units, node, order, rng, moves);
      if (!moves.empty()) continue;
    }
    if (kind < 4) {
      Shift(state, units, node, order, rng, moves);
      continue;
    }
    int32_t to = static_cast<int32_t>(rng.Below(devices));
    NodeIndex partner = node;
    if (kind < 7 || state.boundary(to).empty()) {
      const auto next = units.graph.order.successors(block);
      const auto before = units.graph.order.predecessors(block);
      if (next.size() + before.size() > 0 && rng.Below(16) != 0) {
        const size_t pick = rng.Below(next.size() + before.size());
        const uint32_t neighbor =
            pick < next.size() ? next[pick] : before[pick - next.size()];
        to = state.assignment()[units.Members(neighbor).front()];
      }
    } else {
      partner = state.boundary(to)[rng.Below(state.boundary(to).size())];
    }
    const auto can_go = [&](uint32_t b, int32_t device) {
      return !graph_.is_accelerator(device) ||
             units.graph.blocks[b].supported_on_accelerator;
    };
    if (to == from || !can_go(block, to)) continue;
    const uint32_t other = units.graph.block_of[partner];
    if (other != block && !can_go(other, from)) continue;
    MoveBlock(state, units, block, to, moves);
    if (other != block) MoveBlock(state, units, other, from, moves);
  }
}

double PlacementEnergy(absl::Span<const double> loads) {
  const double most = *std::max_element(loads.begin(), loads.end());
  if (most <= 0) return 0;
  double sum = 0;
  for (const double load : loads) {
    const double square = (load / most) * (load / most);
    const double fourth = square * square;
    sum += fourth * fourth;
  }
  return most * std::sqrt(std::sqrt(std::sqrt(sum)));
}

}  // namespace hone::graphs
