#ifndef HONE_TUNING_EPISODE_H_
#define HONE_TUNING_EPISODE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "space/problem.h"

namespace hone::tuning {

// What one action of an episode did.
struct EpisodeStep {
  // By how much the cost dropped.
  double reward = 0;
  // Ended by the action `stop`, or by the limit of steps.
  bool terminated = false;
  bool truncated = false;
};

// A sequential problem as an agent meets it: one action after the other from
// the initial state, rewarded by the drop of the cost, until it stops or has
// taken `max_steps` actions. The actions are the problem's and, last, `stop`.
//
// A copy is a fork: both go on independently from the same state, at the price
// of a few pointers.
// Owns/keeps: `problem` outlives it. Determinism: what it shows follows from
// its own actions, whatever other episodes of the same problem have done.
class Episode {
 public:
  // `max_steps` ≥ 1.
  Episode(const space::SequentialProblem& problem, int32_t max_steps);

  const space::SequentialProblem& problem() const { return *problem_; }
  const space::StatePtr& state() const { return state_; }
  int32_t action_count() const { return stop_action() + 1; }
  int32_t stop_action() const { return problem_->action_count(); }
  // The cost of where it is.
  double score() const { return problem_->Cost(state_); }
  int32_t remaining_steps() const { return remaining_steps_; }
  bool ended() const { return stopped_ || remaining_steps_ == 0; }

  // Whether Step takes these actions one after the other.
  // Errors: InvalidArgument for an action out of range; FailedPrecondition when
  // the episode has ended or does so before the last of them.
  absl::Status Check(absl::Span<const int32_t> actions) const;

  // Errors: as Check; those of the problem's Step, which leave the episode as
  // it was.
  absl::StatusOr<EpisodeStep> Step(int32_t action);

  // Which actions may change something, by action: false for those that this
  // episode has seen to change nothing in this very state. They may be taken
  // all the same. `stop` is always true.
  const std::vector<bool>& mask() const { return mask_; }
  // Takes every action from this state to make the mask exact. A step that
  // follows is only looked up where the problem remembers.
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
