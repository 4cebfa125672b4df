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

// A decision to be tuned, without what it is about: optimizers see only this.
//
// Determinism: every method depends on its arguments only, costs of a problem
// that is_noisy() excepted.
// Threads: const methods are thread-safe.
class Problem {
 public:
  virtual ~Problem() = default;

  // Unit of Measurement::cost, e.g. "ops" or "ns".
  virtual absl::string_view unit() const = 0;

  // What the compiler would do by itself.
  virtual Candidate DefaultCandidate() const = 0;

  // The cost of a candidate. Candidates outside the space get kInvalid.
  // Errors: where nothing can be measured now; none about the candidate.
  virtual absl::StatusOr<Measurement> Measure(
      const Candidate& candidate) const = 0;

  // Whether costs are times of a real device, which another measurement gives
  // otherwise: differences of a few percent mean nothing before they are
  // confirmed, and each measurement takes long.
  virtual bool is_noisy() const { return false; }

  // Takes in the trials of the search that is about to go on, in order from
  // the first: what costs are relative to is theirs. By default nothing is.
  virtual void Recall(absl::Span<const Trial> log) { (void)log; }

  // Names the kind of problem that one trained policy serves ("pass_order");
  // empty when there is none.
  virtual absl::string_view policy_name() const { return ""; }

  // Bounds what is remembered of earlier steps, in estimated bytes, now and
  // from now on. Changes no result. By default nothing is remembered.
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
  // Equal for states that are the same to the problem: transpositions.
  virtual Hash128 key() const = 0;
};
using StatePtr = std::shared_ptr<const State>;

// Decisions one after the other: pass order, kernel transformations.
class SequentialProblem : public Problem {
 public:
  const SequentialProblem* sequential() const final { return this; }

  virtual StatePtr InitialState() const = 0;
  // Actions are 0 … action_count()-1; what they do is the problem's matter.
  virtual int32_t action_count() const = 0;
  virtual std::string ActionName(int32_t action) const = 0;
  // Longest sequence of actions.
  virtual int32_t max_steps() const = 0;

  // Actions known to lead nowhere from `state` may be missing; those given may
  // still turn out to change nothing (Step returns a state of equal key).
  virtual std::vector<int32_t> LegalActions(const StatePtr& state) const = 0;
  // Whether LegalActions are the same in every state.
  virtual bool legal_everywhere() const { return false; }
  // Errors: InvalidArgument for an action that is out of range or illegal.
  virtual absl::StatusOr<StatePtr> Step(const StatePtr& state,
                                        int32_t action) const = 0;
  // The cost of stopping in `state`; infinity where it is bad, or cannot be
  // measured now.
  virtual double Cost(const StatePtr& state) const = 0;

  // What a policy sees of `state`; by default one node that says nothing.
  virtual ObservationSpec observation_spec() const { return {}; }
  virtual Observation Observe(const StatePtr& state) const;
  // How many nodes of each kind Observe shows: [observation_spec().node_kinds].
  virtual std::vector<int32_t> CountNodeKinds(const StatePtr& state) const;

  // Steps that were really taken, those remembered from before left out: the
  // work that a search has cost. 0 where the problem does not count.
  virtual int64_t steps_taken() const { return 0; }

  // Steps through the candidate and takes MeasureState of where it ends;
  // outcome kInvalid when a step fails.
  absl::StatusOr<Measurement> Measure(const Candidate& candidate) const final;

 protected:
  // By default its Cost.
  // Errors: as Measure.
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

  // Pairs of variables that interact (the graph they lie on); may be empty.
  virtual absl::Span<const std::pair<int32_t, int32_t>> edges() const {
    return {};
  }
  // Whether values of the first `prefix.size()` variables can still be extended
  // to a feasible assignment, as far as the problem can tell cheaply.
  virtual bool IsFeasiblePrefix(absl::Span<const int32_t> prefix) const {
    (void)prefix;
    return true;
  }
};

}  // namespace hone::space

#endif  // HONE_SPACE_PROBLEM_H_
