#include "tuning/tasks/step_problem.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"

#include "backends/cluster_sim/step_simulator.h"
#include "base/status_macros.h"
#include "tuning/tasks/step_local.h"
#include "tuning/tasks/step_observation.h"
#include "tuning/tasks/step_seeds.h"

namespace hone::tuning {
namespace {

constexpr double kMillisecondsPerSecond = 1e3;
// Moves of the search for an assignment that fits in memory.
constexpr int kMovesToFit = 4000;

// "device 2 needs 17.3e9 bytes at its peak, expected at most 16e9".
std::string DescribeExcess(const backends::StepResult& result,
                           const graphs::DeviceTimes& times) {
  int32_t worst = 0;
  double most = 0;
  for (int32_t d = 0; d < times.device_count(); ++d) {
    const double excess =
        result.peak_bytes[static_cast<size_t>(d)] - times.memory_bytes(d);
    if (excess > most) {
      most = excess;
      worst = d;
    }
  }
  return absl::StrFormat(
      "device %d needs %.0f bytes at its peak, expected at most %.0f: %.0f too "
      "many",
      worst, result.peak_bytes[static_cast<size_t>(worst)],
      times.memory_bytes(worst), most);
}

}  // namespace

absl::StatusOr<std::unique_ptr<StepProblem>> StepProblem::Create(
    graphs::OpGraph graph, graphs::Cluster cluster, StepDecisions decisions,
    std::function<bool()> stop, std::function<bool()> seeds_end,
    StepBase base) {
  HONE_ASSIGN_OR_RETURN(
      std::unique_ptr<StepSpace> space,
      StepSpace::Create(std::move(graph), cluster, decisions, std::move(base)));
  const std::function<bool()> end = [stop, seeds_end] {
    return (stop && stop()) || (seeds_end && seeds_end());
  };
  std::vector<space::Seed> seeds = MakeStepSeeds(*space, end);
  auto problem = std::unique_ptr<StepProblem>(
      new StepProblem(std::move(space), std::move(cluster), std::move(stop)));
  problem->seeds_ = std::move(seeds);
  HONE_RETURN_IF_ERROR(problem->CheckWeights());
  space::Measurement measured =
      problem->MeasureOne(problem->seeds_[0].candidate.choices);
  if (measured.outcome != space::Outcome::kOk && !decisions.devices) {
    HONE_RETURN_IF_ERROR(problem->PlaceToFit());
    measured = problem->MeasureOne(problem->seeds_[0].candidate.choices);
  }
  if (measured.outcome != space::Outcome::kOk) {
    HONE_RETURN_IF_ERROR(problem->FindOneThatFits());
    measured = problem->MeasureOne(problem->seeds_[0].candidate.choices);
  }
  if (measured.cost > 0) problem->reference_cost_ = measured.cost;
  *problem->evaluations_ = 0;
  return problem;
}

StepProblem::StepProblem(std::unique_ptr<StepSpace> space,
                         graphs::Cluster cluster, std::function<bool()> stop)
    : space_(std::move(space)),
      cluster_(std::move(cluster)),
      stop_(std::move(stop)),
      step_groups_(*space_),
      rules_(space_->rules()) {}

absl::Status StepProblem::CheckWeights() const {
  double weights = 0;
  for (const graphs::OpNode& node : space_->graph().nodes()) {
    weights += node.parameter_bytes;
  }
  double memory = 0;
  for (int32_t d = 0; d < space_->times().device_count(); ++d) {
    memory += space_->times().memory_bytes(d);
  }
  if (weights <= memory) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "the weights take %.0f bytes and the cluster has %.0f, expected at least "
      "%.0f more",
      weights, memory, weights - memory));
}

absl::Status StepProblem::PlaceToFit() {
  HONE_ASSIGN_OR_RETURN(
      const std::unique_ptr<StepProblem> placement,
      Create(space_->graph(), cluster_, {.devices = true}, stop_));
  const StepPlan plan = placement->Plan(placement->DefaultCandidate().choices);
  space_->set_default_devices(placement->space().DevicesOfNodes(
      *plan.kernels, plan.fused, plan.devices));
  return absl::OkStatus();
}

absl::Status StepProblem::FindOneThatFits() {
  const space::Seed* best = nullptr;
  space::Rank best_rank;
  for (const space::Seed& seed : seeds_) {
    const space::Rank rank = space::RankOf(MeasureOne(seed.candidate.choices));
    if (best == nullptr || rank < best_rank) {
      best = &seed;
      best_rank = rank;
    }
  }
  std::vector<int32_t> values = best->candidate.choices;
  if (best_rank.violation > 0) {
    const std::unique_ptr<space::LocalState> state =
        MakeLocal({std::move(values)});
    Rng rng(1);
    std::vector<space::Change> changes;
    for (int i = 0; i < kMovesToFit && state->score().rank.violation > 0; ++i) {
      if (stop_ && stop_()) return absl::CancelledError("was stopped");
      state->Propose(rng, changes);
      if (changes.empty()) continue;
      if (!(state->score().rank < state->Try(changes).rank)) state->Commit();
    }
    values.assign(state->values().begin(), state->values().end());
  }
  const space::Measurement found = MeasureOne(values);
  if (found.outcome != space::Outcome::kOk) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "no placement is found that fits in memory; in the closest one %s",
        found.message));
  }
  seeds_[0].candidate.choices = std::move(values);
  return absl::OkStatus();
}

StepPlan StepProblem::Plan(absl::Span<const int32_t> values) const {
  absl::MutexLock lock(&mutex_);
  return space_->Decode(values, rules_);
}

bool StepProblem::IsInDomain(absl::Span<const int32_t> values) const {
  if (values.size() != static_cast<size_t>(variable_count())) return false;
  size_t variable = 0;
  for (const space::VariableGroup& group : groups()) {
    for (int32_t i = 0; i < group.count; ++i, ++variable) {
      if (values[variable] < 0 || values[variable] >= group.domain) {
        return false;
      }
    }
  }
  return true;
}

space::ObservationSpec StepProblem::observation_spec() const {
  return StepObservationSpec();
}

std::shared_ptr<const space::Observation> StepProblem::Graph() const {
  absl::MutexLock lock(&mutex_);
  if (observation_ == nullptr) {
    observation_ =
        std::make_shared<const space::Observation>(ObserveStep(*space_));
  }
  return observation_;
}

int32_t StepProblem::NodeOf(int32_t variable) const {
  return variable == space_->order_variable()
             ? 0
             : static_cast<int32_t>(space_->UnitOf(variable));
}

std::vector<float> StepProblem::ValueFeatures(int32_t group) const {
  return StepValueFeatures(*space_, groups()[static_cast<size_t>(group)]);
}

std::unique_ptr<space::LocalState> StepProblem::MakeLocal(
    const space::Candidate& candidate) const {
  return MakeStepLocal(*space_, step_groups_, evaluations_, candidate.choices);
}

absl::StatusOr<std::vector<space::Measurement>> StepProblem::MeasureBatch(
    absl::Span<const space::Candidate> candidates) const {
  std::vector<space::Measurement> measurements;
  measurements.reserve(candidates.size());
  for (const space::Candidate& candidate : candidates) {
    if (stop_ && stop_()) return absl::CancelledError("measuring was stopped");
    measurements.push_back(MeasureOne(candidate.choices));
  }
  return measurements;
}

space::Measurement StepProblem::MeasureOne(
    absl::Span<const int32_t> values) const {
  ++*evaluations_;
  if (!IsInDomain(values)) {
    return {.outcome = space::Outcome::kInvalid,
            .message = absl::StrFormat(
                "%d values, or one out of its domain, expected %d",
                values.size(), variable_count())};
  }
  const StepPlan plan = Plan(values);
  backends::StepSimulator simulator(*plan.kernels, space_->times());
  const backends::StepResult result =
      simulator.Run(plan.devices, plan.priorities);
  space::Measurement measurement = {.cost = result.seconds *
                                            kMillisecondsPerSecond};
  if (result.worst_excess > 0) {
    measurement.outcome = space::Outcome::kInvalid;
    measurement.message = DescribeExcess(result, space_->times());
    measurement.violation = result.worst_excess;
  }
  return measurement;
}

}  // namespace hone::tuning
