#include "space/problem.h"

namespace hone::space {

Observation SequentialProblem::Observe(const StatePtr&) const {
  const ObservationSpec spec = observation_spec();
  Observation observation;
  observation.node_kinds = {0};
  observation.node_features.resize(static_cast<size_t>(spec.node_features));
  observation.global_features.resize(static_cast<size_t>(spec.global_features));
  return observation;
}

std::vector<int32_t> SequentialProblem::CountNodeKinds(
    const StatePtr& state) const {
  std::vector<int32_t> counts(
      static_cast<size_t>(observation_spec().node_kinds));
  for (const int32_t kind : Observe(state).node_kinds) {
    ++counts[static_cast<size_t>(kind)];
  }
  return counts;
}

absl::StatusOr<Measurement> SequentialProblem::Measure(
    const Candidate& candidate) const {
  Measurement failure;
  failure.outcome = Outcome::kInvalid;
  if (candidate.choices.size() > static_cast<size_t>(max_steps())) {
    failure.message = "longer than max_steps";
    return failure;
  }
  StatePtr state = InitialState();
  for (int32_t action : candidate.choices) {
    absl::StatusOr<StatePtr> next = Step(state, action);
    if (absl::IsUnavailable(next.status()) ||
        absl::IsCancelled(next.status())) {
      return next.status();
    }
    if (!next.ok()) {
      if (!absl::IsInvalidArgument(next.status())) {
        failure.outcome = Outcome::kCompileError;
      }
      failure.message = std::string(next.status().message());
      return failure;
    }
    state = *std::move(next);
  }
  return MeasureState(state);
}

absl::StatusOr<Measurement> SequentialProblem::MeasureState(
    const StatePtr& state) const {
  Measurement measurement;
  measurement.cost = Cost(state);
  return measurement;
}

}  // namespace hone::space
