#ifndef HONE_SPACE_EPISODE_H_
#define HONE_SPACE_EPISODE_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "space/sequential_problem.h"

namespace hone::space {

// The effect of one action of an episode.
struct EpisodeStep {
  // StepReward of the costs of the two states: the logarithm of their ratio.
  double reward = 0;
  // True if the action led to another state.
  bool changed = false;
  // Not OK if the action failed: the state is the one before.
  absl::Status error;
  // Ended by the action `stop`, or by the limit of steps.
  bool terminated = false;
  bool truncated = false;
};

// A running episode of a sequential problem: the agent takes one action after
// the other from the initial state, rewarded by the drop of the cost, until it
// stops or has taken `max_steps` actions. The actions are the problem's and,
// last, `stop`. Rewards are 0 if the problem's costs are not free: RewardOf the
// measured candidate is then the reward of the whole episode.
//
// A copy is a fork: both continue independently from the same state, at the
// cost of a few pointers.
// Owns/keeps: `problem` outlives it. Determinism: results depend on the
// episode's own actions, not on other episodes of the same problem.
class Episode {
 public:
  // `max_steps` ≥ 1.
  Episode(const SequentialProblem& problem, int32_t max_steps);

  const SequentialProblem& problem() const { return *problem_; }
  const StatePtr& state() const { return state_; }
  int32_t action_count() const { return stop_action() + 1; }
  int32_t stop_action() const { return problem_->action_count(); }
  // The cost of the current state. Only if the problem's costs are free.
  double score() const { return problem_->Cost(state_); }
  int32_t remaining_steps() const { return remaining_steps_; }
  bool ended() const { return stopped_ || remaining_steps_ == 0; }

  // Checks that Step accepts these actions one after the other.
  // Errors: InvalidArgument for an action out of range; FailedPrecondition if
  // the episode has ended or ends before the last of them.
  absl::Status Check(absl::Span<const int32_t> actions) const;

  // Takes an action. One that fails, as the problem's Step says, counts as a
  // step without effect; its error is in the result.
  // Errors: as Check; Unavailable and Cancelled of the problem's Step, which
  // leave the episode as it was.
  absl::StatusOr<EpisodeStep> Step(int32_t action);

  // Returns true if this episode has seen the action change nothing (or fail)
  // in the current state. It may still be taken.
  bool IsNoOp(int32_t action) const { return no_ops_.contains(action); }
  // By action: true for those that are legal and no no-ops, and for `stop`. For
  // problems with few actions.
  std::vector<bool> Mask() const;
  // Makes IsNoOp exact by trying every legal action from the current state. A
  // problem that caches its steps then only looks up the step that follows.
  absl::Status FindNoOps();

 private:
  const SequentialProblem* problem_;
  StatePtr state_;
  absl::flat_hash_set<int32_t> no_ops_;
  double reference_;  // the problem's reference cost; 0 if costs are not free
  int32_t remaining_steps_;
  bool stopped_ = false;
};

}  // namespace hone::space

#endif  // HONE_SPACE_EPISODE_H_
