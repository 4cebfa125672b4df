#ifndef HONE_TUNING_TASKS_STEP_MOVES_H_
#define HONE_TUNING_TASKS_STEP_MOVES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"

#include "backends/cluster_sim/step_simulator.h"
#include "space/local_state.h"
#include "tuning/tasks/step_space.h"
#include "tuning/tasks/step_waits.h"

namespace hone::tuning {

// The names of StepMoves::Describe's features.
std::vector<std::string> StepMoveFeatureNames();
// How good a move with these features looks by the estimate of when its kernels
// would end (AssignmentProblem::EstimateMove).
float EstimateStepMove(absl::Span<const float> features);

// Describes moves from a plan that was simulated: which transfers they save and
// add, on the critical path and off it, how they shift load, how much slack the
// kernels have that they move, for what those wait, and an estimate of when
// they would end. Nothing is simulated.
class StepMoves {
 public:
  // `space` outlives this.
  explicit StepMoves(const StepSpace& space);

  // Sets the assignment that moves start from: its plan, which outlives its
  // use, as RunAndRemember has last simulated it, and the critical path of
  // that.
  void Start(absl::Span<const int32_t> values, const StepPlan& plan,
             const backends::StepSimulator& simulator, double step_seconds,
             absl::Span<const graphs::KernelIndex> path);

  // Replaces `features`. Time is linear in the edges of the kernels concerned.
  void Describe(absl::Span<const space::Change> changes,
                std::vector<float>& features);

 private:
  struct Sums;
  void AddKernel(graphs::KernelIndex kernel, Sums& sums) const;
  // Estimates when the kernels of the move end, as if nothing else changed but
  // that they follow each other on their devices.
  void Estimate(Sums& sums);
  int32_t NewDevice(graphs::KernelIndex kernel) const {
    return stamp_[kernel] == now_ ? new_device_[kernel]
                                  : plan_->devices[kernel];
  }
  bool IsMoved(graphs::KernelIndex kernel) const {
    return stamp_[kernel] == now_;
  }

  const StepSpace& space_;
  absl::Span<const int32_t> values_;
  const StepPlan* plan_ = nullptr;
  double step_seconds_ = 1;
  double mean_load_ = 0;
  float tight_share_ = 0;      // of the kernels, those with hardly any slack
  std::vector<double> loads_;  // [devices], seconds
  std::vector<double> slack_;  // [kernels], seconds
  StepWaits waits_of_;
  // Of kernels on the critical path: what they waited for, and what waits for
  // them; kNone elsewhere. [kernels]
  std::vector<graphs::KernelIndex> waited_for_;
  std::vector<graphs::KernelIndex> waits_;
  std::vector<uint8_t> is_critical_;

  // The kernels that a move gives another device.
  std::vector<graphs::KernelIndex> moved_;
  std::vector<uint32_t> ranks_;  // of those, in order
  std::vector<int32_t> new_device_;
  std::vector<double> new_end_;
  std::vector<double> free_at_;  // [devices], after the kernels of the move
  std::vector<uint32_t> stamp_;
  uint32_t now_ = 0;
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_STEP_MOVES_H_
