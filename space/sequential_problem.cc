#include "space/sequential_problem.h"

#include <cmath>
#include <cstddef>
#include <utility>

#include "base/status_macros.h"

namespace hone::space {

std::string SequentialProblem::ActionNameIn(const StatePtr&,
                                            int32_t action) const {
  return ActionName(action);
}

std::vector<int32_t> SequentialProblem::Substitutes(const StatePtr&,
                                                    int32_t) const {
  return {};
}

std::vector<int32_t> SequentialProblem::Expand(
    absl::Span<const int32_t> actions) const {
  return {actions.begin(), actions.end()};
}

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

ActionSpec SequentialProblem::action_spec() const {
  ActionSpec spec;
  for (int32_t action = 0; action < action_count(); ++action) {
    spec.kind_names.push_back(ActionName(action));
  }
  return spec;
}

ActionBatch SequentialProblem::Describe(
    const StatePtr&, absl::Span<const int32_t> actions) const {
  return {.kinds = {actions.begin(), actions.end()},
          .focus = std::vector<int32_t>(actions.size(), -1),
          .features = {}};
}

double SequentialProblem::reference_cost() const {
  const double cost = Cost(InitialState());
  return std::isfinite(cost) && cost > 0 ? cost : 1;
}

absl::StatusOr<StatePtr> SequentialProblem::Follow(const Candidate& candidate,
                                                   Measurement& failure) const {
  failure.outcome = Outcome::kInvalid;
  if (candidate.choices.size() > static_cast<size_t>(max_steps())) {
    failure.message = "longer than max_steps";
    return nullptr;
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
      return nullptr;
    }
    state = *std::move(next);
  }
  return state;
}

absl::StatusOr<std::vector<Measurement>> SequentialProblem::MeasureBatch(
    absl::Span<const Candidate> candidates) const {
  std::vector<Measurement> measurements(candidates.size());
  for (size_t i = 0; i < candidates.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(const StatePtr state,
                          Follow(candidates[i], measurements[i]));
    if (state == nullptr) continue;
    HONE_ASSIGN_OR_RETURN(measurements[i], MeasureState(state));
  }
  return measurements;
}

absl::StatusOr<Measurement> SequentialProblem::MeasureState(
    const StatePtr& state) const {
  Measurement measurement;
  measurement.cost = Cost(state);
  return measurement;
}

}  // namespace hone::space
