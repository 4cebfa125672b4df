#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"

#include "backends/mcm_sim/pipeline_simulator.h"
#include "base/status_macros.h"
#include "graphs/mcm/chip_loads.h"
#include "graphs/mcm/partition_graph.h"
#include "graphs/mcm/partition_rules.h"
#include "tuning/cache_key.h"
#include "tuning/registry.h"
#include "tuning/tasks/partition_decision.h"
#include "tuning/tasks/partition_problem.h"

namespace hone::tuning {
namespace {

// A result is valid for the package of the options, and for no other.
constexpr absl::string_view kTarget = "mcm";

// How far the recomputed cost may be from the measured one, relative to it: the
// order of additions differs.
constexpr double kTolerance = 1e-9;

absl::string_view NameOf(PartitionObjective objective) {
  return objective == PartitionObjective::kModelled ? kMaxLoad : kInterval;
}

nlohmann::ordered_json DescribeLoads(const graphs::PartitionGraph& graph,
                                     absl::Span<const int32_t> chips,
                                     double bound) {
  const graphs::ChipLoads loads = graphs::ComputeChipLoads(graph, chips);
  nlohmann::ordered_json json;
  auto& list = json["loads"] = nlohmann::ordered_json::array();
  for (const graphs::ChipLoad& load : loads.chips) {
    list.push_back({{"compute", load.compute},
                    {"inbound", load.inbound},
                    {"outbound", load.outbound}});
  }
  json["max_load"] = loads.max_load;
  json["lower_bound"] = bound;
  if (bound > 0) json["ratio_to_bound"] = loads.max_load / bound;
  return json;
}

// The chip of each node of a graph, so that samples follow each other fast on a
// multi-chip module.
class PartitionTask final : public Task {
 public:
  absl::string_view name() const override { return "partition"; }

  std::vector<SubjectKind> subject_kinds(const TaskOptions&) const override {
    return {SubjectKind::kModule, SubjectKind::kOperators, SubjectKind::kGraph};
  }
  bool evaluates() const override { return false; }

  optimizers::Kinds problem_kind() const override {
    return optimizers::kAssignment;
  }

  std::string default_optimizer() const override { return "annealing"; }
  // Seeds and moves between them find most; a trial stands for many moves.
  int64_t default_trials() const override { return 100; }

  // Raised whenever a value comes to mean something else, or the cost does.
  std::string space_version() const override { return "1"; }

  absl::StatusOr<std::string> OptionsKey(
      const TaskOptions& options) const override {
    HONE_RETURN_IF_ERROR(CheckPackage(options));
    HONE_ASSIGN_OR_RETURN(const PartitionObjective objective,
                          ObjectiveOf(options));
    return absl::StrCat("objective=", NameOf(objective), ";",
                        PackageKey(*options.package));
  }

  std::string default_target() const override { return std::string(kTarget); }

  absl::StatusOr<std::string> ResolveTarget(
      absl::string_view requested, backends::KernelMeasurer*) const override {
    if (requested.empty() || requested == kTarget) return default_target();
    return absl::InvalidArgumentError(
        absl::StrCat("target '", requested, "', expected '", kTarget,
                     "': the package lists the chips"));
  }

  absl::StatusOr<std::unique_ptr<space::Problem>> CreateProblem(
      const Subject& subject, const TaskOptions& options,
      const TaskContext& context) const override {
    HONE_RETURN_IF_ERROR(CheckPackage(options));
    const auto make = [&]() -> absl::StatusOr<std::unique_ptr<space::Problem>> {
      HONE_ASSIGN_OR_RETURN(const PartitionObjective objective,
                            ObjectiveOf(options));
      HONE_ASSIGN_OR_RETURN(graphs::PartitionGraph graph,
                            PartitionGraphOf(subject, *options.package));
      return PartitionProblem::Create(std::move(graph), *options.package,
                                      objective, context.stop,
                                      context.seeds_end);
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
    const auto& partition = static_cast<const PartitionProblem&>(problem);
    HONE_ASSIGN_OR_RETURN(const graphs::PartitionGraph graph,
                          PartitionGraphOf(subject, partition.package()));
    nlohmann::ordered_json decision;
    decision["objective"] = NameOf(partition.objective());
    decision["assignment"] = graph.ChipsOfOrigins(candidate.choices);
    decision.update(DescribeLoads(graph, candidate.choices, partition.bound()));
    if (partition.objective() == PartitionObjective::kSimulated) {
      const backends::PipelineResult result = backends::SimulatePipeline(
          graph, partition.package(), candidate.choices);
      decision["interval"] = result.interval;
      decision["latency"] = result.latency;
      decision["chip_busy"] = result.chip_busy;
      decision["link_busy"] = result.link_busy;
    }
    return AppliedDecision{.decision = decision.dump()};
  }

  std::optional<space::Candidate> CandidateOf(
      const space::Problem& problem,
      absl::string_view decision) const override {
    std::optional<std::vector<int32_t>> chips = ChipsOfDecision(
        static_cast<const PartitionProblem&>(problem).graph(), decision);
    if (!chips.has_value()) return std::nullopt;
    return space::Candidate{.choices = *std::move(chips)};
  }

  // Checks and computes anew, from the subject and not from the problem.
  absl::StatusOr<Winner> Judge(const Subject& subject,
                               const space::Problem& problem,
                               const space::Candidate& candidate,
                               const VerifyOptions&) const override {
    const auto& partition = static_cast<const PartitionProblem&>(problem);
    HONE_ASSIGN_OR_RETURN(const graphs::PartitionGraph graph,
                          PartitionGraphOf(subject, partition.package()));
    HONE_ASSIGN_OR_RETURN(const space::Measurement measurement,
                          problem.Measure(candidate));
    if (const absl::Status valid =
            graphs::CheckPartition(graph, candidate.choices);
        !valid.ok()) {
      return absl::FailedPreconditionError(
          absl::StrCat("not a valid partition: ", valid.message()));
    }
    double expected =
        graphs::ComputeChipLoads(graph, candidate.choices).max_load;
    Winner winner;
    winner.verification.method =
        "checked: valid partition, max load recomputed";
    if (partition.objective() == PartitionObjective::kSimulated) {
      const backends::PipelineResult result = backends::SimulatePipeline(
          graph, partition.package(), candidate.choices);
      if (result.excess_bytes > 0) {
        return absl::FailedPreconditionError(
            absl::StrFormat("chip %d runs out of memory by %.0f bytes",
                            result.fullest_chip, result.excess_bytes));
      }
      expected = result.interval;
      winner.verification.method =
          "checked: valid partition, simulated from the decision, memory "
          "suffices";
    }
    const double error = std::abs(expected - measurement.cost);
    if (measurement.outcome != space::Outcome::kOk ||
        !(error <= kTolerance * expected)) {
      return absl::FailedPreconditionError(absl::StrFormat(
          "measured as %s with cost %.17g, expected %.17g",
          space::OutcomeName(measurement.outcome), measurement.cost, expected));
    }
    winner.cost = measurement.cost;
    HONE_ASSIGN_OR_RETURN(winner.applied, Apply(subject, problem, candidate));
    if (error > 0) winner.verification.max_rel_error = error / expected;
    return winner;
  }

 private:
  static absl::Status CheckPackage(const TaskOptions& options) {
    if (options.package.has_value()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "task 'partition' has no package, expected the chips of a multi-chip "
        "module");
  }

  static absl::StatusOr<PartitionObjective> ObjectiveOf(
      const TaskOptions& options) {
    if (options.objective.empty() || options.objective == kMaxLoad) {
      return PartitionObjective::kModelled;
    }
    if (options.objective == kInterval) return PartitionObjective::kSimulated;
    return absl::InvalidArgumentError(absl::StrCat(
        "objective '", options.objective,
        "' of task 'partition', expected one of: ", kMaxLoad, ", ", kInterval));
  }
};

}  // namespace

std::unique_ptr<Task> MakePartition() {
  return std::make_unique<PartitionTask>();
}

}  // namespace hone::tuning
