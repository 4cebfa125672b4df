#include "tuning/minimize.h"

#include <cstddef>
#include <utility>

#include "optimizers/moves.h"
#include "space/measurement.h"

namespace hone::tuning {

space::Candidate Minimize(const space::SequentialProblem& problem,
                          const space::Candidate& candidate) {
  space::Candidate best{optimizers::Follow(problem, candidate.choices).actions};
  double cost = space::EffectiveCost(problem.Measure(best));
  // From the back: what follows a removed action has to run anew, and what
  // stands before it has not.
  for (size_t i = best.choices.size(); i-- > 0;) {
    space::Candidate shorter = best;
    shorter.choices.erase(shorter.choices.begin() +
                          static_cast<std::ptrdiff_t>(i));
    const double shorter_cost = space::EffectiveCost(problem.Measure(shorter));
    if (shorter_cost <= cost) {
      best = std::move(shorter);
      cost = shorter_cost;
    }
  }
  return best;
}

}  // namespace hone::tuning
