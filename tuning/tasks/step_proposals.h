#ifndef HONE_TUNING_TASKS_STEP_PROPOSALS_H_
#define HONE_TUNING_TASKS_STEP_PROPOSALS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

#include "backends/cluster_sim/step_simulator.h"
#include "base/rng.h"
#include "graphs/step/fusion_rules.h"
#include "space/local_state.h"
#include "tuning/tasks/step_groups.h"
#include "tuning/tasks/step_space.h"

namespace hone::tuning {

// Draws the moves of a local search, from a plan that was simulated. Most begin
// at a kernel on the critical path:
// - another order;
// - another device for a group of kernels, mostly one that a neighbor is on;
// - other priorities for a small group, or one kernel overtakes another that
//   has kept it waiting for their device;
// - a node is fused into its users or no longer fused, mostly together with
//   nodes of a group that are like it: models repeat layers and time steps, and
//   the gain of one fusion is small.
// A fused node has no device and no priority of its own: moves leave them
// alone, and a node that is no longer fused takes those of its kernel.
// Threads: not thread-safe.
class StepProposals {
 public:
  // Both outlive this.
  StepProposals(const StepSpace& space, const StepGroups& groups);

  // Sets the assignment that moves start from, its plan as RunAndRemember has
  // last simulated it, and the critical path of that, not empty. All outlive
  // their use.
  void Start(absl::Span<const int32_t> values, const StepPlan& plan,
             const backends::StepSimulator& simulator,
             absl::Span<const graphs::KernelIndex> path);

  // Replaces `changes` as LocalState::Propose does.
  void Propose(Rng& rng, std::vector<space::Change>& changes);

 private:
  // Each adds the changes of one move, or none.
  void ProposeDevices(Rng& rng, std::vector<space::Change>& changes) const;
  void ProposePriorities(Rng& rng, std::vector<space::Change>& changes) const;
  void ProposeOvertaking(Rng& rng, std::vector<space::Change>& changes) const;
  void ProposeFusion(Rng& rng, std::vector<space::Change>& changes);
  void ProposeSplit(graphs::NodeIndex root, graphs::NodeIndex member, Rng& rng,
                    std::vector<space::Change>& changes) const;

  // The unit of a kernel: one on the critical path most of the time.
  size_t PickUnit(Rng& rng) const;
  size_t UnitOfNode(graphs::NodeIndex node) const;
  // The unit, or if it is fused, that of the first kernel that computes it.
  size_t RootOf(size_t unit) const;
  bool IsFused(size_t unit) const {
    return plan_->fused[space_.node_of(unit)] != 0;
  }
  // The device of a kernel that gives or takes a result of `unit`, or any.
  int32_t PickDevice(size_t unit, Rng& rng) const;
  // Returns `node`, and mostly those of a group that do the same work and are
  // as much fused as it.
  std::vector<graphs::NodeIndex> PickAlike(graphs::NodeIndex node,
                                           Rng& rng) const;
  // Gives the variable of `unit` in a group that begins with `first`, -1 for
  // none, the value of another unit.
  void Copy(int32_t first, size_t from, size_t unit,
            std::vector<space::Change>& changes) const;

  const StepSpace& space_;
  const StepGroups& groups_;
  graphs::FusionRules rules_;
  absl::Span<const int32_t> values_;
  const StepPlan* plan_ = nullptr;
  const backends::StepSimulator* simulator_ = nullptr;
  absl::Span<const graphs::KernelIndex> path_;
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_STEP_PROPOSALS_H_
