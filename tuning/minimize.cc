#include "tuning/minimize.h"

#include <cstddef>
#include <utility>

#include "base/status_macros.h"
#include "optimizers/moves.h"
#include "space/measurement.h"

namespace hone::tuning {

absl::StatusOr<space::Candidate> Minimize(
    const space::SequentialProblem& problem,
    const space::Candidate& candidate) {
  space::Candidate best{optimizers::Follow(problem, candidate.choices).actions};
  HONE_ASSIGN_OR_RETURN(const space::Measurement whole, problem.Measure(best));
  double cost = space::EffectiveCost(whole);
  // From the back: what follows a removed action has to run anew, and what
  // stands before it has not.
  for (size_t i = best.choices.size(); i-- > 0;) {
    space::Candidate shorter = best;
    shorter.choices.erase(shorter.choices.begin() +
                          static_cast<std::ptrdiff_t>(i));
    HONE_ASSIGN_OR_RETURN(const space::Measurement measurement,
                          problem.Measure(shorter));
    const double shorter_cost = space::EffectiveCost(measurement);
    if (shorter_cost <= cost) {
      best = std::move(shorter);
      cost = shorter_cost;
    }
  }
  return best;
}

}  // namespace hone::tuning
