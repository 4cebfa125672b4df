#ifndef HONE_TUNING_EPISODE_H_
#define HONE_TUNING_EPISODE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "space/problem.h"

namespace hone::tuning {

// The effect of one action of an episode.
struct EpisodeStep {
  // The drop of the cost.
  double reward = 0;
  // Not OK if the action failed: the state is the one before.
  absl::Status error;
  // Ended by the action `stop`, or by the limit of steps.
  bool terminated = false;
  bool truncated = false;
};

// A running episode of a sequential problem: the agent takes one action after
// the other from the initial state, rewarded by the drop of the cost, until it
// stops or has taken `max_steps` actions. The actions are the problem's and,
// last, `stop`.
//
// A copy is a fork: both continue independently from the same state, at the
// cost of a few pointers.
// Owns/keeps: `problem` outlives it. Determinism: results depend on the
// episode's own actions, not on other episodes of the same problem.
class Episode {
 public:
  // `max_steps` ≥ 1.
  Episode(const space::SequentialProblem& problem, int32_t max_steps);

  const space::SequentialProblem& problem() const { return *problem_; }
  const space::StatePtr& state() const { return state_; }
  int32_t action_count() const { return stop_action() + 1; }
  int32_t stop_action() const { return problem_->action_count(); }
  // The cost of the current state.
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

  // By action: false for the no-op actions, those that this episode has seen to
  // change nothing (or fail) in the current state. They may still be taken.
  // `stop` is always true.
  const std::vector<bool>& mask() const { return mask_; }
  // Makes the mask exact by trying every action from the current state. A
  // problem that caches its steps then only looks up the step that follows.
  absl::Status CompleteMask();

 private:
  const space::SequentialProblem* problem_;
  space::StatePtr state_;
  std::vector<bool> mask_;
  int32_t remaining_steps_;
  bool stopped_ = false;
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_EPISODE_H_
