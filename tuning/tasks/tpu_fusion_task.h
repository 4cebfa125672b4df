#ifndef HONE_TUNING_TASKS_TPU_FUSION_TASK_H_
#define HONE_TUNING_TASKS_TPU_FUSION_TASK_H_

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tuning/task.h"
#include "tuning/tasks/tpu_fusion_problem.h"

namespace hone::tuning {

// The task `fusion` for the target `tpu`: which instructions of a module share
// a kernel, and how arrays between kernels lie in memory (TpuFusionProblem). It
// makes the fused module, which is verified by evaluating it beside the input.
//
// A decision is JSON: "fused" and "swapped", the places of the nodes among
// those that may be (FusionSpace::fusible, swappable), and "ns". Places follow
// the order of the fingerprint, so a decision is valid for every module that
// gets it from the cache.
class TpuFusionTask final : public Task {
 public:
  // Makes what tells the times of kernels on the TPU of the options, and
  // predicts them.
  using MakeOptions = std::function<TpuFusionOptions(
      const TaskOptions& options, const TaskContext& context)>;

  explicit TpuFusionTask(MakeOptions make_options)
      : make_options_(std::move(make_options)) {}

  absl::string_view name() const override { return "fusion"; }
  std::vector<SubjectKind> subject_kinds(const TaskOptions&) const override {
    return {SubjectKind::kModule};
  }
  optimizers::Kinds problem_kind() const override {
    return optimizers::kAssignment;
  }
  std::string default_optimizer() const override { return "xtat"; }
  // A trial measures a whole program.
  int64_t default_trials() const override { return 32; }
  std::string space_version() const override { return "1"; }
  absl::StatusOr<std::string> OptionsKey(
      const TaskOptions& options) const override;
  std::string default_target() const override { return "tpu"; }
  absl::StatusOr<std::string> ResolveTarget(
      absl::string_view requested, backends::KernelMeasurer*) const override;

  absl::StatusOr<AppliedDecision> Apply(
      const Subject& subject, const space::Problem& problem,
      const space::Candidate& candidate) const override;
  std::optional<space::Candidate> CandidateOf(
      const space::Problem& problem, absl::string_view decision) const override;
  absl::StatusOr<Winner> Judge(const Subject& subject,
                               const space::Problem& problem,
                               const space::Candidate& candidate,
                               const VerifyOptions& options) const override;

 private:
  absl::StatusOr<std::unique_ptr<space::Problem>> CreateProblem(
      const Subject& subject, const TaskOptions& options,
      const TaskContext& context) const override;

  const MakeOptions make_options_;
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_TPU_FUSION_TASK_H_
