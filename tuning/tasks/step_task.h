#ifndef HONE_TUNING_TASKS_STEP_TASK_H_
#define HONE_TUNING_TASKS_STEP_TASK_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuning/task.h"
#include "tuning/tasks/step_space.h"

namespace hone::tuning {

// A task that decides about the step of a module or an operator graph on the
// cluster of its options: placement for step-time, schedule, fusion, joint.
class StepTask final : public Task {
 public:
  StepTask(absl::string_view name, StepDecisions decisions)
      : name_(name), decisions_(decisions) {}

  absl::string_view name() const override { return name_; }
  std::vector<SubjectKind> subject_kinds(const TaskOptions&) const override {
    return {SubjectKind::kModule, SubjectKind::kOperators};
  }
  bool evaluates() const override { return false; }
  optimizers::Kinds problem_kind() const override {
    return optimizers::kAssignment;
  }
  std::string default_optimizer() const override { return "policy"; }
  std::string space_version() const override { return "1"; }
  absl::StatusOr<std::string> OptionsKey(
      const TaskOptions& options) const override;
  std::string default_target() const override;
  // A trial stands for many simulations.
  int64_t default_trials() const override { return 200; }
  absl::StatusOr<std::string> ResolveTarget(
      absl::string_view requested, backends::KernelMeasurer*) const override;

  // Gives a module, in which every instruction has its device, if the subject
  // is one and devices are decided.
  absl::StatusOr<AppliedDecision> Apply(
      const Subject& subject, const space::Problem& problem,
      const space::Candidate& candidate) const override;
  std::optional<space::Candidate> CandidateOf(
      const space::Problem& problem, absl::string_view decision) const override;
  // Simulates the decision as it is written, from the subject alone.
  absl::StatusOr<Winner> Judge(const Subject& subject,
                               const space::Problem& problem,
                               const space::Candidate& candidate,
                               const VerifyOptions&) const override;

 private:
  absl::StatusOr<std::unique_ptr<space::Problem>> CreateProblem(
      const Subject& subject, const TaskOptions& options,
      const TaskContext& context) const override;

  const absl::string_view name_;
  const StepDecisions decisions_;
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_STEP_TASK_H_
