#include "optimizers/cleanup.h"

#include <utility>

#include "optimizers/moves.h"
#include "space/measurement.h"

namespace hone::optimizers {

Cleanup::Cleanup(const space::SequentialProblem& problem,
                 const space::Trial& best)
    : problem_(problem),
      best_(best.candidate),
      cost_(space::EffectiveCost(best.measurement)) {
  space::Candidate direct{Follow(problem, best_.choices).actions};
  untried_ = direct.choices.size();
  if (direct.choices.size() < best_.choices.size()) {
    next_ = std::move(direct);
  } else {
    Propose();
  }
}

void Cleanup::Observe(const space::Measurement& measurement) {
  const double cost = space::EffectiveCost(measurement);
  if (cost <= cost_) {
    best_ = *next_;
    cost_ = cost;
  }
  Propose();
}

// From the back: what follows a removed action has to run anew, and what stands
// before it has not.
void Cleanup::Propose() {
  next_.reset();
  while (!next_ && untried_ > 0) {
    --untried_;
    next_ = best_;
    next_->choices.erase(next_->choices.begin() +
                         static_cast<std::ptrdiff_t>(untried_));
    if (!problem_.legal_everywhere() &&
        Follow(problem_, next_->choices).state == nullptr) {
      next_.reset();
    }
  }
}

}  // namespace hone::optimizers
