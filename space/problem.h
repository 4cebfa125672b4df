#ifndef HONE_SPACE_PROBLEM_H_
#define HONE_SPACE_PROBLEM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "base/hash.h"
#include "space/measurement.h"
#include "space/observation.h"
#include "space/trial.h"

namespace hone::space {

class SequentialProblem;
class AssignmentProblem;

// A decision to be tuned, independent of its subject: all that optimizers see.
//
// Determinism: methods depend on their arguments only, except for the costs of
// a problem that is_noisy().
// Threads: const methods are thread-safe.
class Problem {
 public:
  virtual ~Problem() = default;

  // Unit of Measurement::cost, e.g. "ops" or "ns".
  virtual absl::string_view unit() const = 0;

  // The compiler's default decision.
  virtual Candidate DefaultCandidate() const = 0;

  // Measures a candidate. A candidate outside the space gets kInvalid, one that
  // cannot be applied kCompileError.
  // Errors: only if measuring is impossible now (Unavailable, Cancelled); a bad
  // candidate is an outcome.
  virtual absl::StatusOr<Measurement> Measure(
      const Candidate& candidate) const = 0;

  // Returns true if costs are times of a real device. Two measurements then
  // differ, a difference of a few percent means nothing until it is confirmed,
  // and each measurement takes long.
  virtual bool is_noisy() const { return false; }

  // Receives the trials of a search that is about to be resumed, in order from
  // the first, so that further costs are relative to the same baseline. Ignored
  // by default.
  virtual void Recall(absl::Span<const Trial> log) { (void)log; }

  // The kind of problem that one trained policy serves ("pass_order"); empty if
  // there is none.
  virtual absl::string_view policy_name() const { return ""; }

  // Limits the estimated bytes of cached steps, now and from now on. Does not
  // change results. By default nothing is cached.
  virtual void LimitMemory(int64_t bytes) { (void)bytes; }

  // Exactly one of these is not null.
  virtual const SequentialProblem* sequential() const { return nullptr; }
  virtual const AssignmentProblem* assignment() const { return nullptr; }
};

// A state of a sequential problem. Immutable and shared, so that forking a
// search is free.
class State {
 public:
  virtual ~State() = default;
  // Equal for states that the problem does not distinguish: transpositions.
  virtual Hash128 key() const = 0;
};
using StatePtr = std::shared_ptr<const State>;

// A sequence of decisions: pass order, kernel transformations.
class SequentialProblem : public Problem {
 public:
  const SequentialProblem* sequential() const final { return this; }

  virtual StatePtr InitialState() const = 0;
  // Actions are 0 … action_count()-1; the problem defines their effect.
  virtual int32_t action_count() const = 0;
  virtual std::string ActionName(int32_t action) const = 0;
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
  // The cost of stopping in `state`; infinity if the state is invalid or cannot
  // be measured now.
  virtual double Cost(const StatePtr& state) const = 0;

  // The observation of `state` for a policy; by default one node without
  // information.
  virtual ObservationSpec observation_spec() const { return {}; }
  virtual Observation Observe(const StatePtr& state) const;
  // The number of nodes of each kind in Observe:
  // [observation_spec().node_kinds].
  virtual std::vector<int32_t> CountNodeKinds(const StatePtr& state) const;

  // The number of steps computed, without those found in a cache: the work of a
  // search. 0 if the problem does not count them.
  virtual int64_t steps_taken() const { return 0; }

  // Steps through the candidate and returns MeasureState of its last state. If
  // a step fails, the outcome is kInvalid for an illegal action, else
  // kCompileError.
  absl::StatusOr<Measurement> Measure(const Candidate& candidate) const final;

 protected:
  // Measures a state; by default its Cost. Errors: as Measure.
  virtual absl::StatusOr<Measurement> MeasureState(const StatePtr& state) const;
};

// One value for each of a fixed number of variables: placement, partition,
// tiles, flags.
class AssignmentProblem : public Problem {
 public:
  const AssignmentProblem* assignment() const final { return this; }

  virtual int32_t variable_count() const = 0;
  // Values of variable v are 0 … domain_size(v)-1.
  virtual int32_t domain_size(int32_t variable) const = 0;

  // Pairs of variables that interact (the edges of their graph); may be empty.
  virtual absl::Span<const std::pair<int32_t, int32_t>> edges() const {
    return {};
  }
  // Returns false if no feasible assignment extends these values of the first
  // `prefix.size()` variables, as far as the problem can tell cheaply.
  virtual bool IsFeasiblePrefix(absl::Span<const int32_t> prefix) const {
    (void)prefix;
    return true;
  }
};

}  // namespace hone::space

#endif  // HONE_SPACE_PROBLEM_H_
