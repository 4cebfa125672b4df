#ifndef HONE_SPACE_SEQUENTIAL_PROBLEM_H_
#define HONE_SPACE_SEQUENTIAL_PROBLEM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "base/hash.h"
#include "space/observation.h"
#include "space/problem.h"

namespace hone::space {

// A state of a sequential problem. Immutable and shared, so that forking a
// search is free.
class State {
 public:
  virtual ~State() = default;
  // Equal for states that the problem does not distinguish: transpositions.
  virtual Hash128 key() const = 0;
};
using StatePtr = std::shared_ptr<const State>;

// The sizes of a problem's descriptions of actions, the same for all instances.
struct ActionSpec {
  // One name for each kind of action. Weights are matched by them.
  std::vector<std::string> kind_names;
  std::vector<std::string> feature_names;

  friend bool operator==(const ActionSpec&, const ActionSpec&) = default;
};

// Descriptions of actions for a policy, in the order asked for.
struct ActionBatch {
  std::vector<int32_t> kinds;  // [actions], an index of spec.kind_names
  // [actions]: the node of Observe that the action concerns, or -1.
  std::vector<int32_t> focus;
  std::vector<float> features;  // [actions, features], row-major
};

// A sequence of decisions: pass order, kernel transformations.
class SequentialProblem : public Problem {
 public:
  const SequentialProblem* sequential() const final { return this; }

  virtual StatePtr InitialState() const = 0;
  // Actions are 0 … action_count()-1; the problem defines their effect. They
  // may be billions, of which a state has few (LegalActions): nothing may
  // enumerate them all unless the problem is known to have few. At most
  // INT32_MAX-1, so that one more number is left for stopping.
  virtual int32_t action_count() const = 0;
  virtual std::string ActionName(int32_t action) const = 0;
  // The name of a legal action of `state`, where that says more: the effect
  // that it has there. By default ActionName.
  virtual std::string ActionNameIn(const StatePtr& state, int32_t action) const;
  // The length of the longest sequence of actions.
  virtual int32_t max_steps() const = 0;

  // Returns the legal actions in `state`. Actions known to be no-ops may be
  // missing; those returned may still be no-ops (Step returns a state of equal
  // key).
  virtual std::vector<int32_t> LegalActions(const StatePtr& state) const = 0;
  // Returns true if LegalActions is the same in every state.
  virtual bool legal_everywhere() const { return false; }
  // Returns the state after `action`.
  // Errors: InvalidArgument for an action that is out of range or illegal;
  // another code if the action fails in this state.
  virtual absl::StatusOr<StatePtr> Step(const StatePtr& state,
                                        int32_t action) const = 0;

  // The moves of a local search. Substitutes returns the legal actions of
  // `state` that are `action` with other parameters: the same kind of decision
  // at the same place. By default none.
  virtual std::vector<int32_t> Substitutes(const StatePtr& state,
                                           int32_t action) const;
  // Returns a sequence that leads where the legal sequence `actions` does, with
  // an action for each decision that one of `actions` makes together with
  // others, so that an edit can change one and keep the rest. By default, and
  // if it would be longer than max_steps, `actions`.
  virtual std::vector<int32_t> Expand(absl::Span<const int32_t> actions) const;

  // Returns true if Cost may be called for any state: it then computes, it does
  // not measure. If false, learners see nothing but measured trials.
  virtual bool costs_are_free() const = 0;
  // The cost of stopping in `state`; infinity if the state is invalid. Only if
  // costs_are_free().
  virtual double Cost(const StatePtr& state) const = 0;

  // The observation of `state` for a policy; by default one node without
  // information.
  virtual Observation Observe(const StatePtr& state) const;
  // The number of nodes of each kind in Observe:
  // [observation_spec().node_kinds].
  virtual std::vector<int32_t> CountNodeKinds(const StatePtr& state) const;

  // Describes `actions`, which are legal in `state`. By default each action is
  // a kind of its own, by its name, without features.
  virtual ActionSpec action_spec() const;
  virtual ActionBatch Describe(const StatePtr& state,
                               absl::Span<const int32_t> actions) const;

  // The cost of the initial state; 1 if that is not finite or not above 0. Only
  // if costs_are_free().
  double reference_cost() const override;

  // Steps through each candidate and returns MeasureState of its last state. If
  // a step fails, the outcome is kInvalid for an illegal action, else
  // kCompileError.
  absl::StatusOr<std::vector<Measurement>> MeasureBatch(
      absl::Span<const Candidate> candidates) const override;

 protected:
  // Returns the last state of a candidate, or the measurement of a failure in
  // `failure`, which is then not ok, and null.
  // Errors: Unavailable and Cancelled of Step.
  absl::StatusOr<StatePtr> Follow(const Candidate& candidate,
                                  Measurement& failure) const;
  // Measures a state; by default its Cost. Errors: as MeasureBatch.
  virtual absl::StatusOr<Measurement> MeasureState(const StatePtr& state) const;
};

}  // namespace hone::space

#endif  // HONE_SPACE_SEQUENTIAL_PROBLEM_H_
