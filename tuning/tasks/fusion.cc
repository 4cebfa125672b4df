#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "tuning/registry.h"
#include "tuning/tasks/simulated_fusion.h"
#include "tuning/tasks/step_task.h"
#include "tuning/tasks/tpu_fusion_problem.h"
#include "tuning/tasks/tpu_fusion_task.h"

namespace hone::tuning {
namespace {

// What is computed together: on a cluster, which operators of a step are
// computed within the kernels of their users, under the default placement and
// order; on a TPU, which instructions share a kernel.
class FusionTask final : public Task {
 public:
  FusionTask()
      : step_("fusion", StepDecisions{.fusion = true}),
        tpu_([](const TaskOptions& options, const TaskContext& context) {
          return SimulatedFusion(*options.tpu, context);
        }) {}

  absl::string_view name() const override { return step_.name(); }
  std::vector<SubjectKind> subject_kinds(
      const TaskOptions& options) const override {
    return For(options).subject_kinds(options);
  }
  bool evaluates() const override { return step_.evaluates(); }
  optimizers::Kinds problem_kind() const override {
    return step_.problem_kind();
  }
  std::string default_optimizer() const override {
    return step_.default_optimizer();
  }
  std::string OptimizerFor(const TaskOptions& options) const override {
    return For(options).default_optimizer();
  }
  std::string space_version() const override {
    // Of both: a TPU's records have its simulator's version in their key.
    return step_.space_version();
  }
  absl::StatusOr<std::string> OptionsKey(
      const TaskOptions& options) const override {
    return For(options).OptionsKey(options);
  }
  std::string default_target() const override { return step_.default_target(); }
  int64_t default_trials() const override { return step_.default_trials(); }
  int64_t TrialsFor(const TaskOptions& options) const override {
    return For(options).default_trials();
  }
  absl::StatusOr<std::string> ResolveTarget(
      absl::string_view requested,
      backends::KernelMeasurer* kernels) const override {
    if (requested == tpu_.default_target()) return tpu_.default_target();
    return step_.ResolveTarget(requested, kernels);
  }

  absl::StatusOr<AppliedDecision> Apply(
      const Subject& subject, const space::Problem& problem,
      const space::Candidate& candidate) const override {
    return For(problem).Apply(subject, problem, candidate);
  }
  std::optional<space::Candidate> CandidateOf(
      const space::Problem& problem,
      absl::string_view decision) const override {
    return For(problem).CandidateOf(problem, decision);
  }
  absl::StatusOr<Winner> Judge(const Subject& subject,
                               const space::Problem& problem,
                               const space::Candidate& candidate,
                               const VerifyOptions& options) const override {
    return For(problem).Judge(subject, problem, candidate, options);
  }

 private:
  const Task& For(const TaskOptions& options) const {
    return options.tpu.has_value() ? static_cast<const Task&>(tpu_) : step_;
  }
  const Task& For(const space::Problem& problem) const {
    const bool is_tpu =
        dynamic_cast<const TpuFusionProblem*>(&problem) != nullptr;
    return is_tpu ? static_cast<const Task&>(tpu_) : step_;
  }

  absl::StatusOr<std::unique_ptr<space::Problem>> CreateProblem(
      const Subject& subject, const TaskOptions& options,
      const TaskContext& context) const override {
    return For(options).MakeProblem(subject, options, context);
  }

  const StepTask step_;
  const TpuFusionTask tpu_;
};

}  // namespace

std::unique_ptr<Task> MakeFusion() { return std::make_unique<FusionTask>(); }

}  // namespace hone::tuning
