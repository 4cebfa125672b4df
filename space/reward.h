#ifndef HONE_SPACE_REWARD_H_
#define HONE_SPACE_REWARD_H_

#include "space/measurement.h"

namespace hone::space {

// Rewards are natural logarithms of ratios of costs, so that they mean the same
// on problems of any size and unit, and those of the steps of an episode add up
// to that of the whole.

// Returns the reward for a cost that fell from `before` to `after`:
// log(before / after). Costs below 1e-4 of `reference`, which is positive,
// count as that much, and costs above 1e4 of it, infinite ones too, likewise:
// rewards are finite.
double StepReward(double before, double after, double reference);

// Returns the reward of a measured candidate: StepReward from `reference` to
// its cost. Candidates that are not ok get less than any that is ok, the less
// the larger their violation.
double RewardOf(const Measurement& measurement, double reference);

}  // namespace hone::space

#endif  // HONE_SPACE_REWARD_H_
