#include "tuning/tasks/step_task.h"

#include <cmath>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "base/status_macros.h"
#include "graphs/hlo_import.h"
#include "graphs/step/device_times.h"
#include "hlo/inference/aliases.h"
#include "tuning/cache_key.h"
#include "tuning/tasks/placed_module.h"
#include "tuning/tasks/step_decision.h"
#include "tuning/tasks/step_problem.h"

namespace hone::tuning {
namespace {

// A result is valid for the cluster of the options, and for no other.
constexpr absl::string_view kTarget = "cluster";

absl::StatusOr<graphs::OpGraph> OperatorsOf(const Subject& subject) {
  return subject.kind() == SubjectKind::kModule
             ? graphs::ImportHlo(subject.module())
             : absl::StatusOr<graphs::OpGraph>(subject.operators());
}

}  // namespace

absl::StatusOr<std::string> StepTask::OptionsKey(
    const TaskOptions& options) const {
  if (!options.cluster.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "task '", name_, "' has no cluster, expected the devices of a step"));
  }
  if (!options.objective.empty() && options.objective != kStepTime) {
    return absl::InvalidArgumentError(
        absl::StrCat("objective '", options.objective, "' of task '", name_,
                     "', expected '", kStepTime, "'"));
  }
  if (options.contiguity != graphs::Contiguity::kPipeline) {
    return absl::InvalidArgumentError(
        absl::StrCat("contiguity '", graphs::ContiguityName(options.contiguity),
                     "' with objective '", kStepTime, "', expected ",
                     "objective '", kMaxLoad, "'"));
  }
  HONE_RETURN_IF_ERROR(graphs::DeviceTimes::Create(*options.cluster).status());
  return absl::StrCat("objective=", kStepTime, ";",
                      ClusterKey(*options.cluster));
}

std::string StepTask::default_target() const { return std::string(kTarget); }

absl::StatusOr<std::string> StepTask::ResolveTarget(
    absl::string_view requested, backends::KernelMeasurer*) const {
  if (requested.empty() || requested == kTarget) return default_target();
  return absl::InvalidArgumentError(
      absl::StrCat("target '", requested, "', expected '", kTarget,
                   "': the cluster lists the devices"));
}

absl::StatusOr<std::unique_ptr<space::Problem>> StepTask::CreateProblem(
    const Subject& subject, const TaskOptions& options,
    const TaskContext& context) const {
  if (decisions_.devices && subject.kind() == SubjectKind::kModule) {
    HONE_ASSIGN_OR_RETURN(
        const int64_t partitions,
        hlo::inference::HeaderCount(subject.module(), "num_partitions"));
    if (partitions > 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          subject.name(), ": num_partitions is ", partitions,
          ", so it is placed already, expected a module for one device"));
    }
  }
  HONE_ASSIGN_OR_RETURN(graphs::OpGraph graph, OperatorsOf(subject));
  absl::StatusOr<std::unique_ptr<StepProblem>> problem =
      StepProblem::Create(std::move(graph), *options.cluster, decisions_,
                          context.stop, context.seeds_end);
  if (problem.ok()) return problem;
  return absl::Status(
      problem.status().code(),
      absl::StrCat(subject.name(), ": ", problem.status().message()));
}

absl::StatusOr<AppliedDecision> StepTask::Apply(
    const Subject& subject, const space::Problem& problem,
    const space::Candidate& candidate) const {
  const auto& step = static_cast<const StepProblem&>(problem);
  const StepDecision decision = DecisionOf(step, candidate.choices);
  HONE_ASSIGN_OR_RETURN(
      const SimulatedStep simulated,
      SimulateDecision(step.space().graph(), step.cluster(), decision));
  AppliedDecision applied = {.decision =
                                 PrintStepDecision(step, candidate.choices,
                                                   decision, simulated.result)};
  if (decisions_.devices && subject.kind() == SubjectKind::kModule) {
    HONE_ASSIGN_OR_RETURN(const graphs::ImportedHlo imported,
                          graphs::ImportHloWithNodes(subject.module()));
    applied.module = WithDevices(subject.module(), imported, decision.devices);
  }
  return applied;
}

std::optional<space::Candidate> StepTask::CandidateOf(
    const space::Problem& problem, absl::string_view decision) const {
  std::optional<std::vector<int32_t>> values =
      ValuesOfDecision(static_cast<const StepProblem&>(problem), decision);
  if (!values.has_value()) return std::nullopt;
  return space::Candidate{*std::move(values)};
}

absl::StatusOr<Winner> StepTask::Judge(const Subject& subject,
                                       const space::Problem& problem,
                                       const space::Candidate& candidate,
                                       const VerifyOptions&) const {
  const auto& step = static_cast<const StepProblem&>(problem);
  HONE_ASSIGN_OR_RETURN(const space::Measurement measurement,
                        problem.Measure(candidate));
  if (measurement.outcome != space::Outcome::kOk) {
    return absl::FailedPreconditionError(
        absl::StrCat("not a valid placement: ", measurement.message));
  }
  Winner winner;
  winner.cost = measurement.cost;
  HONE_ASSIGN_OR_RETURN(winner.applied, Apply(subject, problem, candidate));
  HONE_ASSIGN_OR_RETURN(const graphs::OpGraph graph, OperatorsOf(subject));
  HONE_ASSIGN_OR_RETURN(
      const StepDecision decision,
      ParseStepDecision(winner.applied.decision, graph.size()));
  HONE_ASSIGN_OR_RETURN(const SimulatedStep simulated,
                        SimulateDecision(graph, step.cluster(), decision));
  const double expected = simulated.result.seconds * 1e3;
  if (simulated.result.excess_bytes > 0 || expected != measurement.cost) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "measured as %.17g ms, expected a step of %.17g with %.0f bytes too "
        "many",
        measurement.cost, expected, simulated.result.excess_bytes));
  }
  winner.verification.method =
      "checked: step simulated from the decision, memory suffices";
  return winner;
}

}  // namespace hone::tuning
