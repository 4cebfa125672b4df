#ifndef HONE_TUNING_TASKS_STEP_PROBLEM_H_
#define HONE_TUNING_TASKS_STEP_PROBLEM_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"

#include "graphs/cluster.h"
#include "graphs/op_graph.h"
#include "space/assignment_problem.h"
#include "tuning/tasks/step_groups.h"
#include "tuning/tasks/step_moves.h"
#include "tuning/tasks/step_space.h"

namespace hone::tuning {

// The problem of deciding about the step of an operator graph on a cluster so
// that it takes the least time in milliseconds
// (backends/cluster_sim/step_simulator.h). StepSpace says what the variables
// are.
//
// A placement that needs more memory than a device has is kInvalid, with a
// violation: the share of its memory that the worst device lacks.
class StepProblem final : public space::AssignmentProblem {
 public:
  // `stop` cancels measurements; known methods are constructed until it or
  // `seeds_end` returns true. `base` has what was decided before; the default
  // candidate is the same step. Errors: InvalidArgument for more devices than
  // DeviceTimes has, or if no placement is found that fits in memory;
  // Cancelled.
  static absl::StatusOr<std::unique_ptr<StepProblem>> Create(
      graphs::OpGraph graph, graphs::Cluster cluster, StepDecisions decisions,
      std::function<bool()> stop = nullptr,
      std::function<bool()> seeds_end = nullptr, StepBase base = {});

  const StepSpace& space() const { return *space_; }
  const graphs::Cluster& cluster() const { return cluster_; }
  // Returns the plan of an assignment with values within their domains.
  StepPlan Plan(absl::Span<const int32_t> values) const;
  // The value of each variable is in its domain, and there is one for each.
  bool IsInDomain(absl::Span<const int32_t> values) const;

  absl::string_view unit() const override { return "ms"; }
  absl::string_view policy_name() const override { return "step"; }

  space::Candidate DefaultCandidate() const override {
    return seeds_[0].candidate;
  }
  // MakeStepSeeds.
  std::vector<space::Seed> Seeds() const override { return seeds_; }
  double reference_cost() const override { return reference_cost_; }

  absl::StatusOr<std::vector<space::Measurement>> MeasureBatch(
      absl::Span<const space::Candidate> candidates) const override;
  // Simulations, whole ones and those from where a change can matter.
  int64_t evaluations() const override { return *evaluations_; }

  absl::Span<const space::VariableGroup> groups() const override {
    return space_->groups();
  }
  // Node i is unit i (step_observation.h).
  space::ObservationSpec observation_spec() const override;
  std::shared_ptr<const space::Observation> Graph() const override;
  int32_t NodeOf(int32_t variable) const override;
  std::vector<float> ValueFeatures(int32_t group) const override;
  std::vector<std::string> move_feature_names() const override {
    return StepMoveFeatureNames();
  }
  float EstimateMove(absl::Span<const float> features) const override {
    return EstimateStepMove(features);
  }
  std::unique_ptr<space::LocalState> MakeLocal(
      const space::Candidate& candidate) const override;

 private:
  StepProblem(std::unique_ptr<StepSpace> space, graphs::Cluster cluster,
              std::function<bool()> stop);

  space::Measurement MeasureOne(absl::Span<const int32_t> values) const;
  absl::Status CheckWeights() const;
  // Takes the devices that a problem of placement would start from.
  absl::Status PlaceToFit();
  // Looks for an assignment that fits in memory, from the best seed on.
  absl::Status FindOneThatFits();

  const std::unique_ptr<StepSpace> space_;
  const graphs::Cluster cluster_;
  const std::function<bool()> stop_;
  StepGroups step_groups_;
  std::vector<space::Seed> seeds_;
  double reference_cost_ = 1;
  // Shared with the local states.
  const std::shared_ptr<std::atomic<int64_t>> evaluations_ =
      std::make_shared<std::atomic<int64_t>>(0);

  mutable absl::Mutex mutex_;
  mutable std::shared_ptr<const space::Observation> observation_
      ABSL_GUARDED_BY(mutex_);
  mutable graphs::FusionRules rules_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_STEP_PROBLEM_H_
