#include "tuning/tasks/kernel.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"

#include "base/status_macros.h"
#include "hlo/text/printer.h"
#include "loops/lowering/lowering.h"
#include "loops/schedules/choices.h"
#include "loops/transforms/registry.h"
#include "loops/transforms/script.h"
#include "tuning/registry.h"
#include "tuning/tasks/kernel_problem.h"

namespace hone::tuning {
namespace {

// Raised whenever a script comes to make something else of the same module, or
// an action to mean something else; the lists of choices and transformations
// are part of the space version by themselves.
constexpr int kScriptsVersion = 3;

constexpr absl::string_view kDeviceKind = "cpu";
constexpr int32_t kMaxThreads = 1024;
// Fresh processes in each of which a winner must be faster than the default.
// One of them errs in one of 40 candidates that are no faster, and there are
// three finalists. The worst of the ratios is published, since the best one of
// several finalists would be too good.
constexpr int32_t kConfirmations = 2;

absl::Status NobodyMeasures() {
  return absl::UnavailableError(
      "no worker measures kernels, expected one (hone worker --connect "
      "HOST:PORT)");
}

// Appends those that are not in the list.
void AddNew(const std::vector<std::string>& names,
            std::vector<std::string>& list) {
  for (const std::string& name : names) {
    if (!absl::c_linear_search(list, name)) list.push_back(name);
  }
}

class Kernel final : public Task {
 public:
  absl::string_view name() const override { return "kernel"; }

  std::vector<SubjectKind> subject_kinds(const TaskOptions&) const override {
    return {SubjectKind::kModule};
  }

  optimizers::Kinds problem_kind() const override {
    return optimizers::kSequential;
  }

  std::string default_optimizer() const override { return "beam"; }

  std::string space_version() const override {
    const std::string choices =
        absl::StrJoin(loops::AllChoices(), ";",
                      [](std::string* out, const loops::ChoiceInfo& choice) {
                        absl::StrAppend(out, choice.name, "=",
                                        absl::StrJoin(choice.values, ","));
                      });
    return absl::StrCat(
        kScriptsVersion, ":", choices, ":",
        absl::StrJoin(loops::AllTransforms(), ",",
                      [](std::string* out, const loops::Transform* transform) {
                        absl::StrAppend(out, transform->name());
                      }));
  }

  absl::StatusOr<std::string> OptionsKey(
      const TaskOptions& options) const override {
    if (options.threads < 1 || options.threads > kMaxThreads) {
      return absl::InvalidArgumentError(absl::StrCat(
          options.threads, " threads, expected 1 to ", kMaxThreads));
    }
    if (options.numerics == hlo::Numerics::kExact) {
      return absl::InvalidArgumentError(
          "numerics 'exact', expected reassociate or fast: schedules change "
          "the "
          "order of reductions");
    }
    return absl::StrCat("threads=", options.threads);
  }

  std::string default_target() const override {
    return std::string(kDeviceKind);
  }
  int64_t default_trials() const override { return 64; }

  // A fingerprint need not be of a device that is there: there may be results.
  absl::StatusOr<std::string> ResolveTarget(
      absl::string_view asked,
      backends::KernelMeasurer* kernels) const override {
    if (absl::StartsWith(asked, absl::StrCat(kDeviceKind, ":"))) {
      return std::string(asked);
    }
    if (!asked.empty() && asked != kDeviceKind) {
      return absl::InvalidArgumentError(absl::StrCat(
          "target '", asked,
          "' is no device, expected 'cpu' or the fingerprint of one"));
    }
    if (kernels == nullptr) return NobodyMeasures();
    HONE_ASSIGN_OR_RETURN(const backends::KernelDevice any,
                          kernels->AwaitDevice("", /*stop=*/nullptr));
    const std::vector<backends::KernelDevice> devices = kernels->Devices();
    if (devices.size() > 1) {
      return absl::FailedPreconditionError(absl::StrCat(
          "workers offer several devices, expected one of them as the target: ",
          absl::StrJoin(devices, ", ",
                        [](std::string* out, const auto& device) {
                          absl::StrAppend(out, device.fingerprint, " (",
                                          device.model, ")");
                        })));
    }
    return any.fingerprint;
  }

  absl::StatusOr<std::unique_ptr<space::Problem>> CreateProblem(
      const Subject& subject, const TaskOptions& options,
      const TaskContext& context) const override {
    const hlo::Module& module = subject.module();
    HONE_RETURN_IF_ERROR(OptionsKey(options).status());
    KernelProblemOptions problem;
    HONE_ASSIGN_OR_RETURN(problem.program, loops::LowerToProgram(module));
    if (context.kernels == nullptr) return NobodyMeasures();
    HONE_ASSIGN_OR_RETURN(problem.device, context.kernels->AwaitDevice(
                                              context.target, context.stop));
    if (options.threads > problem.device.machine.threads) {
      return absl::InvalidArgumentError(absl::StrCat(
          options.threads, " threads, expected at most the ",
          problem.device.machine.threads, " of ", problem.device.model));
    }
    problem.device.machine.threads = options.threads;
    problem.module = hlo::PrintModule(module);
    problem.work = backends::LeastWorkOf(module);
    problem.kernels = context.kernels;
    problem.stop = context.stop;
    return std::make_unique<KernelProblem>(std::move(problem));
  }

  // The module stays as it is; the decision is a script.
  absl::StatusOr<AppliedDecision> Apply(
      const Subject& subject, const space::Problem& problem,
      const space::Candidate& candidate) const override {
    HONE_ASSIGN_OR_RETURN(
        const std::vector<loops::Step> script,
        static_cast<const KernelProblem&>(problem).ScriptOf(candidate));
    nlohmann::ordered_json decision;
    decision["script"] = nlohmann::ordered_json::array();
    for (const loops::Step& step : script) {
      decision["script"].push_back(loops::PrintStep(step));
    }
    return AppliedDecision{.decision = decision.dump(),
                           .module = subject.module()};
  }

  absl::StatusOr<Winner> Judge(const Subject& subject,
                               const space::Problem& problem,
                               const space::Candidate& candidate,
                               const VerifyOptions&) const override {
    const auto& kernel = static_cast<const KernelProblem&>(problem);
    const bool is_default = candidate == problem.DefaultCandidate();
    KernelProblem::Confirmation confirmation;
    std::vector<std::string> workers;
    std::vector<std::string> machines;
    for (int32_t i = 0; i < kConfirmations; ++i) {
      // One machine that errs or lies must not make a winner.
      const bool by_two = !is_default && i == kConfirmations - 1;
      HONE_ASSIGN_OR_RETURN(KernelProblem::Confirmation next,
                            kernel.Confirm(candidate, i, by_two));
      AddNew(next.workers, workers);
      AddNew(next.machines, machines);
      const backends::KernelTiming& timing = next.timing;
      if (timing.outcome != space::Outcome::kOk) {
        return absl::FailedPreconditionError(absl::StrCat(
            "measured once more, it is ", space::OutcomeName(timing.outcome),
            ": ", timing.message));
      }
      if (!is_default && timing.ratio_high >= 1) {
        return absl::FailedPreconditionError(absl::StrFormat(
            "measured once more, it is not surely faster than the default: "
            "%.3f of its time (%.3f to %.3f)",
            timing.ratio, timing.ratio_low, timing.ratio_high));
      }
      if (i == 0 || timing.ratio > confirmation.timing.ratio) {
        confirmation = std::move(next);
      }
      if (is_default) break;
    }
    const backends::KernelTiming& timing = confirmation.timing;
    Winner winner;
    winner.cost = confirmation.cost;
    HONE_ASSIGN_OR_RETURN(winner.applied, Apply(subject, problem, candidate));
    winner.verification.method = absl::StrFormat(
        "evaluator, in fresh processes: 1 random, 1 adversarial inputs; %.3f "
        "of the default's time (%.3f to %.3f, %d pairs); %.0f %% of the "
        "roofline",
        timing.ratio, timing.ratio_low, timing.ratio_high,
        timing.samples_ns.size(),
        100 * confirmation.roofline_ns / confirmation.cost);
    for (size_t i = 0; i < workers.size(); ++i) {
      absl::StrAppend(&winner.verification.method,
                      i == 0 ? "; measured by worker " : ", confirmed by ",
                      workers[i]);
    }
    winner.verification.measured_by = std::move(machines);
    winner.verification.max_rel_error = timing.max_rel_error;
    return winner;
  }
};

}  // namespace

absl::StatusOr<loops::Program> KernelOfDecision(const hlo::Module& module,
                                                absl::string_view decision) {
  const nlohmann::json json =
      nlohmann::json::parse(decision.begin(), decision.end(), nullptr,
                            /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("script") ||
      !json["script"].is_array()) {
    return absl::InvalidArgumentError(
        absl::StrCat("decision '", decision,
                     "': expected an object with an array 'script'"));
  }
  std::vector<loops::Step> steps;
  for (const nlohmann::json& step : json["script"]) {
    if (!step.is_string()) {
      return absl::InvalidArgumentError(
          absl::StrCat("decision '", decision, "': expected steps as strings"));
    }
    HONE_ASSIGN_OR_RETURN(loops::Step parsed,
                          loops::ParseStep(step.get<std::string>()));
    steps.push_back(std::move(parsed));
  }
  HONE_ASSIGN_OR_RETURN(const loops::Program program,
                        loops::LowerToProgram(module));
  return loops::ApplyScript(program, steps);
}

std::unique_ptr<Task> MakeKernel() { return std::make_unique<Kernel>(); }

}  // namespace hone::tuning
