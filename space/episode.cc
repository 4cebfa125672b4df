#include "space/episode.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "base/check.h"
#include "base/status_macros.h"
#include "space/reward.h"

namespace hone::space {
namespace {

// Returns true if the error says nothing about the action.
bool CannotRunNow(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsCancelled(status);
}

}  // namespace

Episode::Episode(const SequentialProblem& problem, int32_t max_steps)
    : problem_(&problem),
      state_(problem.InitialState()),
      reference_(problem.costs_are_free() ? problem.reference_cost() : 0),
      remaining_steps_(max_steps) {
  HONE_CHECK(max_steps >= 1);
}

absl::Status Episode::Check(absl::Span<const int32_t> actions) const {
  bool stopped = stopped_;
  int32_t remaining = remaining_steps_;
  for (const int32_t action : actions) {
    if (action < 0 || action > stop_action()) {
      return absl::InvalidArgumentError(
          absl::StrCat("action ", action, ", expected 0 to ", stop_action()));
    }
  }
  for (size_t i = 0; i < actions.size(); ++i) {
    if (stopped || remaining == 0) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the episode has ended ",
          stopped ? "by the action stop" : "at its limit of steps",
          i > 0 ? absl::StrCat(" before action ", i, " of ", actions.size())
                : "",
          ", expected no further action"));
    }
    stopped = actions[i] == stop_action();
    --remaining;
  }
  return absl::OkStatus();
}

absl::StatusOr<EpisodeStep> Episode::Step(int32_t action) {
  HONE_RETURN_IF_ERROR(Check({&action, 1}));
  EpisodeStep step;
  if (action == stop_action()) {
    stopped_ = true;
  } else {
    absl::StatusOr<StatePtr> next = problem_->Step(state_, action);
    if (CannotRunNow(next.status())) return next.status();
    step.error = next.status();
    if (!next.ok() || (*next)->key() == state_->key()) {
      no_ops_.insert(action);
    } else {
      step.changed = true;
      if (reference_ > 0) {
        step.reward = StepReward(score(), problem_->Cost(*next), reference_);
      }
      state_ = *std::move(next);
      no_ops_.clear();
    }
  }
  --remaining_steps_;
  step.terminated = stopped_;
  step.truncated = !stopped_ && remaining_steps_ == 0;
  return step;
}

std::vector<bool> Episode::Mask() const {
  std::vector<bool> mask(static_cast<size_t>(action_count()), false);
  mask.back() = true;
  for (const int32_t action : problem_->LegalActions(state_)) {
    mask[static_cast<size_t>(action)] = !IsNoOp(action);
  }
  return mask;
}

absl::Status Episode::FindNoOps() {
  for (const int32_t action : problem_->LegalActions(state_)) {
    if (IsNoOp(action)) continue;
    const absl::StatusOr<StatePtr> next = problem_->Step(state_, action);
    if (CannotRunNow(next.status())) return next.status();
    if (!next.ok() || (*next)->key() == state_->key()) no_ops_.insert(action);
  }
  return absl::OkStatus();
}

}  // namespace hone::space
