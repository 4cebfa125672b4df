#ifndef HONE_GRAPHS_PLACEMENT_MOVES_H_
#define HONE_GRAPHS_PLACEMENT_MOVES_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"

#include "base/rng.h"
#include "graphs/adjacency.h"
#include "graphs/block_graph.h"
#include "graphs/device_graph.h"
#include "graphs/placement_state.h"

namespace hone::graphs {

// Random changes of placements that keep most constraints: blocks move as one,
// and with the blocks that would otherwise be out of order. Linear memory.
// Threads: const methods are thread-safe.
class PlacementMoves {
 public:
  using NodeMove = std::pair<NodeIndex, int32_t>;  // node, new device

  // Moves within pipelines keep together what any pipeline does. `graph`
  // outlives this.
  PlacementMoves(const DeviceGraph& graph, Contiguity contiguity);

  // Replaces `moves` with one change of `state`, of distinct nodes that are not
  // there yet; empty if a bounded number of draws finds none. Most changes take
  // load off the fullest device:
  // - a block at the boundary of its device goes where a neighbor is, or to any
  //   device;
  // - the cut between two devices that follow each other shifts: a block goes,
  //   with those of its device that precede or follow it;
  // - the cuts between several devices of a pipeline shift, so that load flows
  //   along it to where there is room;
  // - blocks of two devices are exchanged.
  void Propose(const PlacementState& state, Rng& rng,
               std::vector<NodeMove>& moves) const;

 private:
  class Cascade;
  // The blocks for one direction of the backward pass, and their nodes.
  struct Units {
    explicit Units(BlockGraph blocks);
    absl::Span<const NodeIndex> Members(uint32_t block) const {
      return absl::MakeConstSpan(nodes).subspan(
          begin[block], begin[block + size_t{1}] - begin[block]);
    }
    BlockGraph graph;
    std::vector<size_t> begin;     // [blocks + 1]
    std::vector<NodeIndex> nodes;  // [nodes], by block
  };

  int32_t PickDevice(const PlacementState& state, Rng& rng) const;
  NodeIndex PickNode(const PlacementState& state, int32_t device,
                     Rng& rng) const;
  void MoveBlock(const PlacementState& state, const Units& units,
                 uint32_t block, int32_t device,
                 std::vector<NodeMove>& moves) const;
  void Shift(const PlacementState& state, const Units& units, NodeIndex node,
             absl::Span<const int32_t> order, Rng& rng,
             std::vector<NodeMove>& moves) const;
  // Shifts a cut as Shift does, and then, as long as the device that takes the
  // blocks is fuller than the fullest one was, the cut at its other end, too.
  // Loads on the way are estimated without transfers.
  void Flow(const PlacementState& state, const Units& units, NodeIndex node,
            absl::Span<const int32_t> order, Rng& rng,
            std::vector<NodeMove>& moves) const;

  const DeviceGraph& graph_;
  const Contiguity contiguity_;
  std::vector<Units> units_;
};

// What a local search descends: the max load, and to a lesser degree the loads
// near it. Of loads that are all equal it is a little more than the max load.
double PlacementEnergy(absl::Span<const double> loads);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_PLACEMENT_MOVES_H_
