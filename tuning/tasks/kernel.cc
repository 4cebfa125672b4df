#include "tuning/tasks/kernel.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "base/status_macros.h"
#include "hlo/text/printer.h"
#include "loops/lowering/lowering.h"
#include "loops/schedules/choices.h"
#include "loops/transforms/registry.h"
#include "loops/transforms/script.h"
#include "tuning/registry.h"
#include "tuning/shipped_cost_model.h"
#include "tuning/tasks/kernel_confirmation.h"
#include "tuning/tasks/kernel_cost_spec.h"
#include "tuning/tasks/kernel_decision.h"
#include "tuning/tasks/kernel_problem.h"
#include "tuning/tasks/kernel_surrogate.h"
#include "tuning/tasks/kernel_target.h"
#include "tuning/tasks/native_code_task.h"

namespace hone::tuning {
namespace {

// Returns a model by the weights that come with Hone, or null without them.
absl::StatusOr<std::unique_ptr<space::Surrogate>> MakeSurrogate(
    const KernelProblem& problem) {
  HONE_ASSIGN_OR_RETURN(const learning::CostPredictor* const model,
                        ShippedCostModel("cpu_kernel", KernelCostSpec()));
  if (model == nullptr) return nullptr;
  return MakeKernelSurrogateOf(problem, *model);
}

class Kernel final : public NativeCodeTask {
 public:
  absl::string_view name() const override { return "kernel"; }

  optimizers::Kinds problem_kind() const override {
    return optimizers::kSequential;
  }

  std::string default_optimizer() const override { return "beam"; }

  std::string space_version() const override { return KernelSpaceVersion(); }

  int64_t default_trials() const override { return 64; }

  absl::StatusOr<std::unique_ptr<space::Problem>> CreateProblem(
      const Subject& subject, const TaskOptions& options,
      const TaskContext& context) const override {
    const hlo::Module& module = subject.module();
    HONE_RETURN_IF_ERROR(OptionsKey(options).status());
    KernelProblemOptions problem;
    HONE_ASSIGN_OR_RETURN(problem.program, loops::LowerToProgram(module));
    HONE_ASSIGN_OR_RETURN(problem.device, AwaitKernelDevice(options, context));
    problem.module = hlo::PrintModule(module);
    problem.work = backends::LeastWorkOf(module);
    problem.kernels = context.kernels;
    problem.stop = context.stop;
    problem.make_surrogate = MakeSurrogate;
    return std::make_unique<KernelProblem>(std::move(problem));
  }

  // The module stays as it is; the decision is a script.
  absl::StatusOr<AppliedDecision> Apply(
      const Subject& subject, const space::Problem& problem,
      const space::Candidate& candidate) const override {
    HONE_ASSIGN_OR_RETURN(
        std::string decision,
        KernelDecision(static_cast<const KernelProblem&>(problem), candidate));
    return AppliedDecision{.decision = std::move(decision),
                           .module = subject.module()};
  }

  std::optional<space::Candidate> CandidateOf(
      const space::Problem& problem,
      absl::string_view decision) const override {
    return CandidateOfDecision(static_cast<const KernelProblem&>(problem),
                               decision);
  }

  absl::StatusOr<Winner> Judge(const Subject& subject,
                               const space::Problem& problem,
                               const space::Candidate& candidate,
                               const VerifyOptions&) const override {
    HONE_ASSIGN_OR_RETURN(
        KernelConfirmation confirmation,
        ConfirmKernel(static_cast<const KernelProblem&>(problem), candidate));
    const KernelProblem::Confirmation& slowest = confirmation.slowest;
    const backends::KernelTiming& timing = slowest.timing;
    Winner winner;
    winner.cost = slowest.cost;
    HONE_ASSIGN_OR_RETURN(winner.applied, Apply(subject, problem, candidate));
    winner.verification.method = absl::StrFormat(
        "evaluator, in fresh processes: 1 random, 1 adversarial inputs; %.3f "
        "of the default's time (%.3f to %.3f, %d pairs); %.0f %% of the "
        "roofline",
        timing.ratio, timing.ratio_low, timing.ratio_high,
        timing.samples_ns.size(), 100 * slowest.roofline_ns / slowest.cost);
    absl::StrAppend(&winner.verification.method,
                    DescribeWorkers(confirmation.workers));
    winner.verification.measured_by = std::move(confirmation.machines);
    winner.verification.max_rel_error = timing.max_rel_error;
    return winner;
  }
};

}  // namespace

absl::StatusOr<loops::Program> KernelOfDecision(const hlo::Module& module,
                                                absl::string_view decision) {
  HONE_ASSIGN_OR_RETURN(const std::vector<loops::Step> steps,
                        ScriptOfDecision(decision));
  HONE_ASSIGN_OR_RETURN(const loops::Program program,
                        loops::LowerToProgram(module));
  return loops::ApplyScript(program, steps);
}

std::unique_ptr<Task> MakeKernel() { return std::make_unique<Kernel>(); }

}  // namespace hone::tuning
