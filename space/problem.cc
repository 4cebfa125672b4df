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
  Measurement invalid;
  invalid.outcome = Outcome::kInvalid;
  if (candidate.choices.size() > static_cast<size_t>(max_steps())) {
    invalid.message = "longer than max_steps";
    return invalid;
  }
  StatePtr state = InitialState();
  for (int32_t action : candidate.choices) {
    absl::StatusOr<StatePtr> next = Step(state, action);
    if (!next.ok()) {
      invalid.message = std::string(next.status().message());
      return invalid;
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
