#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"

#include "base/status_macros.h"
#include "graphs/contiguity.h"
#include "graphs/hlo_import.h"
#include "graphs/max_load.h"
#include "graphs/roofline.h"
#include "space/measurement.h"
#include "tuning/cache_key.h"
#include "tuning/registry.h"
#include "tuning/tasks/placement_problem.h"
#include "tuning/tasks/step_problem.h"
#include "tuning/tasks/step_task.h"

namespace hone::tuning {
namespace {

// A result is valid for the devices that the graph itself lists, which are part
// of its fingerprint, or for the cluster of the options, and for no others.
constexpr absl::string_view kTarget = "cluster";

// How far the recomputed cost may be from the measured one, relative to it: the
// order of additions differs.
constexpr double kTolerance = 1e-9;

// "valid pipeline", "valid convex assignment", "valid assignment".
absl::string_view DescribeValid(graphs::Contiguity contiguity) {
  switch (contiguity) {
    case graphs::Contiguity::kPipeline:
      return "valid pipeline";
    case graphs::Contiguity::kConvex:
      return "valid convex assignment";
    case graphs::Contiguity::kNone:
      break;
  }
  return "valid assignment";
}

// Returns the graph to be placed: the subject, or that of a module on
// `cluster`.
absl::StatusOr<graphs::DeviceGraph> GraphOf(
    const Subject& subject, const std::optional<graphs::Cluster>& cluster) {
  if (!cluster.has_value()) return subject.graph();
  if (subject.kind() == SubjectKind::kOperators) {
    return graphs::MakeDeviceGraph(subject.operators(), *cluster);
  }
  HONE_ASSIGN_OR_RETURN(const graphs::OpGraph operators,
                        graphs::ImportHlo(subject.module()));
  return graphs::MakeDeviceGraph(operators, *cluster);
}

// The device of each node of a weighted graph, so that the busiest device has
// the least to do, or of each operator of a module or of a graph on a cluster,
// for that or so that a step takes the least time.
class Placement final : public Task {
 public:
  absl::string_view name() const override { return "placement"; }

  std::vector<SubjectKind> subject_kinds(
      const TaskOptions& options) const override {
    if (!options.cluster.has_value()) return {SubjectKind::kGraph};
    return {SubjectKind::kModule, SubjectKind::kOperators};
  }
  absl::string_view OptionsForKind(SubjectKind kind) const override {
    switch (kind) {
      case SubjectKind::kModule:
        return "a cluster to place the module on";
      case SubjectKind::kOperators:
        return "a cluster to place the graph on";
      case SubjectKind::kGraph:
        break;
    }
    return "no cluster, as the graph lists its devices";
  }
  bool evaluates() const override { return false; }

  optimizers::Kinds problem_kind() const override {
    return optimizers::kAssignment;
  }

  std::string default_optimizer() const override { return "annealing"; }

  // Raised whenever a value comes to mean something else, or the cost does.
  std::string space_version() const override { return "1"; }

  absl::StatusOr<std::string> OptionsKey(
      const TaskOptions& options) const override {
    if (IsForStepTime(options)) return step_.OptionsKey(options);
    if (!options.objective.empty() && options.objective != kMaxLoad) {
      return absl::InvalidArgumentError(
          absl::StrCat("unknown objective '", options.objective,
                       "', expected one of: ", kMaxLoad, ", ", kStepTime));
    }
    return absl::StrCat(
        "contiguity=", graphs::ContiguityName(options.contiguity),
        options.cluster ? absl::StrCat(";", ClusterKey(*options.cluster)) : "");
  }

  std::string default_target() const override { return std::string(kTarget); }
  // Seeds and moves between them find most; a trial stands for many moves.
  int64_t default_trials() const override { return 100; }

  absl::StatusOr<std::string> ResolveTarget(
      absl::string_view requested, backends::KernelMeasurer*) const override {
    if (requested.empty() || requested == kTarget) return default_target();
    return absl::InvalidArgumentError(
        absl::StrCat("target '", requested, "', expected '", kTarget,
                     "': the graph, or the cluster, lists the devices"));
  }

  absl::StatusOr<std::unique_ptr<space::Problem>> CreateProblem(
      const Subject& subject, const TaskOptions& options,
      const TaskContext& context) const override {
    if (IsForStepTime(options)) {
      return step_.MakeProblem(subject, options, context);
    }
    const auto make = [&]() -> absl::StatusOr<std::unique_ptr<space::Problem>> {
      HONE_ASSIGN_OR_RETURN(graphs::DeviceGraph graph,
                            GraphOf(subject, options.cluster));
      return PlacementProblem::Create(std::move(graph), options.contiguity,
                                      context.stop, options.cluster,
                                      PlacementSeeds::kAll, context.seeds_end);
    };
    absl::StatusOr<std::unique_ptr<space::Problem>> problem = make();
    if (problem.ok()) return problem;
    return absl::Status(
        problem.status().code(),
        absl::StrCat(subject.name(), ": ", problem.status().message()));
  }

  absl::StatusOr<AppliedDecision> Apply(
      const Subject& subject, const space::Problem& problem,
      const space::Candidate& candidate) const override {
    if (IsStep(problem)) return step_.Apply(subject, problem, candidate);
    const auto& placement = static_cast<const PlacementProblem&>(problem);
    HONE_ASSIGN_OR_RETURN(const graphs::DeviceGraph graph,
                          GraphOf(subject, placement.cluster()));
    HONE_ASSIGN_OR_RETURN(const graphs::DeviceLoads loads,
                          graphs::ComputeLoads(graph, candidate.choices));
    nlohmann::ordered_json decision;
    decision["assignment"] = candidate.choices;
    decision["loads"] = loads.loads;
    decision["contiguity"] = graphs::ContiguityName(placement.contiguity());
    return AppliedDecision{.decision = decision.dump()};
  }

  std::optional<space::Candidate> CandidateOf(
      const space::Problem& problem,
      absl::string_view decision) const override {
    if (IsStep(problem)) return step_.CandidateOf(problem, decision);
    const auto json =
        nlohmann::json::parse(decision.begin(), decision.end(), nullptr, false);
    if (!json.is_object() || !json.contains("assignment")) return std::nullopt;
    const auto& placement = static_cast<const PlacementProblem&>(problem);
    const nlohmann::json& assignment = json["assignment"];
    if (!assignment.is_array() ||
        assignment.size() != static_cast<size_t>(placement.variable_count())) {
      return std::nullopt;
    }
    space::Candidate candidate;
    for (const nlohmann::json& device : assignment) {
      if (!device.is_number_unsigned() ||
          device.get<uint64_t>() >=
              static_cast<uint64_t>(placement.graph().device_count())) {
        return std::nullopt;
      }
      candidate.choices.push_back(device.get<int32_t>());
    }
    return candidate;
  }

  // Checks and computes anew, from the subject and not from the problem.
  absl::StatusOr<Winner> Judge(const Subject& subject,
                               const space::Problem& problem,
                               const space::Candidate& candidate,
                               const VerifyOptions& options) const override {
    if (IsStep(problem)) {
      return step_.Judge(subject, problem, candidate, options);
    }
    const auto& placement = static_cast<const PlacementProblem&>(problem);
    const graphs::Contiguity contiguity = placement.contiguity();
    HONE_ASSIGN_OR_RETURN(const graphs::DeviceGraph graph,
                          GraphOf(subject, placement.cluster()));
    HONE_ASSIGN_OR_RETURN(const space::Measurement measurement,
                          problem.Measure(candidate));
    if (const absl::Status valid =
            graphs::CheckAssignment(graph, candidate.choices, contiguity);
        !valid.ok()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "not a ", DescribeValid(contiguity), ": ", valid.message()));
    }
    HONE_ASSIGN_OR_RETURN(const graphs::DeviceLoads loads,
                          graphs::ComputeLoads(graph, candidate.choices));
    const double error = std::abs(loads.max_load - measurement.cost);
    if (measurement.outcome != space::Outcome::kOk ||
        !(error <= kTolerance * loads.max_load)) {
      return absl::FailedPreconditionError(absl::StrFormat(
          "measured as %s with cost %.17g, expected a max load of %.17g",
          space::OutcomeName(measurement.outcome), measurement.cost,
          loads.max_load));
    }
    Winner winner;
    winner.cost = measurement.cost;
    HONE_ASSIGN_OR_RETURN(winner.applied, Apply(subject, problem, candidate));
    winner.verification.method = absl::StrCat("checked: max load recomputed, ",
                                              DescribeValid(contiguity));
    if (error > 0) winner.verification.max_rel_error = error / loads.max_load;
    return winner;
  }

 private:
  static bool IsForStepTime(const TaskOptions& options) {
    return options.objective == kStepTime;
  }
  static bool IsStep(const space::Problem& problem) {
    return dynamic_cast<const StepProblem*>(&problem) != nullptr;
  }

  // Decides for the step time.
  const StepTask step_{"placement", {.devices = true}};
};

}  // namespace

std::unique_ptr<Task> MakePlacement() { return std::make_unique<Placement>(); }

}  // namespace hone::tuning
