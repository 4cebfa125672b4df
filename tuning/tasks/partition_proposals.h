#ifndef HONE_TUNING_TASKS_PARTITION_PROPOSALS_H_
#define HONE_TUNING_TASKS_PARTITION_PROPOSALS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"

#include "base/rng.h"
#include "graphs/mcm/chip_loads.h"
#include "graphs/mcm/partition_graph.h"
#include "space/local_state.h"
#include "tuning/tasks/partition_problem.h"

namespace hone::tuning {

// Draws the moves of a local search. Most begin at the busiest chip:
// - a few chips in a row are cut anew, into as many parts, one less or one
//   more, along a topological order and mostly where little flows; chips after
//   them move up or down. Without a chip that is free, two others become one;
// - a node goes to another chip between those of its neighbors.
// A move that breaks a rule is repaired by the constraint solver, now and then,
// as that takes longer than a new draw: nodes keep the chips of the move as far
// as the rules allow it (FIX of Xie et al., 2022). What is proposed breaks no
// rule.
// Threads: not thread-safe.
class PartitionProposals {
 public:
  // `problem` outlives this.
  explicit PartitionProposals(const PartitionProblem& problem);

  // Sets the partition that moves start from, and its loads.
  void Start(absl::Span<const int32_t> chips, const graphs::ChipLoads& loads);

  // Replaces `changes` as LocalState::Propose does.
  void Propose(Rng& rng, std::vector<space::Change>& changes);

 private:
  // Each makes tried_ from chips_; false if there is no such move.
  bool Recut(Rng& rng);
  bool MoveNode(Rng& rng);

  size_t DrawChip(Rng& rng) const;
  // Draws where to cut `nodes`, in a topological order: the numbers of nodes
  // before each of `count` cuts, ascending; fewer if two are the same.
  std::vector<size_t> DrawCuts(absl::Span<const graphs::NodeIndex> nodes,
                               size_t count, Rng& rng);
  // Draws a chip, of those before `first` or from `end` on, to become one with
  // the one after it; used_ if there is none.
  size_t DrawMerged(size_t first, size_t end, Rng& rng) const;
  // Replaces tried_ by a partition without faults that agrees with it where
  // the rules allow it; false if none is found.
  bool Repair(Rng& rng);

  const PartitionProblem& problem_;
  const graphs::PartitionGraph& graph_;
  const std::unique_ptr<space::Domains> domains_;
  // The place of each node in three topological orders.
  std::array<std::vector<uint32_t>, 3> places_;
  std::vector<int32_t> chips_;
  std::vector<double> loads_;                          // [used_]
  std::vector<std::vector<graphs::NodeIndex>> nodes_;  // [used_]
  size_t used_ = 0;
  size_t busiest_ = 0;
  std::vector<int32_t> tried_;
  std::vector<uint32_t> window_place_;  // [nodes], of those being cut
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_PARTITION_PROPOSALS_H_
