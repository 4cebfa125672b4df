#ifndef HONE_LEARNING_ADVANTAGE_H_
#define HONE_LEARNING_ADVANTAGE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace hone::learning {

struct Advantages {
  std::vector<float> advantages;  // [turns]
  // [turns]: targets of the value function, advantage + value.
  std::vector<float> returns;
};

// Returns the generalized advantage estimates of turns in a row. `rewards` and
// `values`: [turns]. `value_after` is the estimate of the state after the last
// one: 0 if the episode is over there. `discount` is gamma and `trace` lambda.
// Source: Schulman et al., "High-Dimensional Continuous Control Using
// Generalized Advantage Estimation", 2015, equation 16.
Advantages GeneralizedAdvantages(absl::Span<const float> rewards,
                                 absl::Span<const float> values,
                                 float value_after, float discount,
                                 float trace);

// Returns how much better each episode of a group did than their mean, in
// standard deviations of the group or in units of `least_deviation`, whichever
// is larger: episodes that are nearly equal get advantages near 0, equal ones
// exactly 0.
// Source: Shao et al., "DeepSeekMath", 2024, section 4.1; the least deviation
// is ours.
std::vector<float> GroupAdvantages(absl::Span<const float> totals,
                                   float least_deviation);

// Divides `values` by their root mean square, or by `least` if that is larger.
// The sign of an advantage says whether a move did better than expected, so
// their mean is left where it is.
void ScaleToUnit(std::vector<float>& values, float least);

// A target of n-step Q-learning: a reward, and the turn whose value estimate is
// added to it, discounted.
struct StepTarget {
  float reward = 0;
  // The index of that turn; -1 if the episode is over before it.
  int64_t next = -1;
  float discount = 1;  // of the estimate
};

// Returns the targets of the turns of an episode that is over after its last
// turn: the discounted rewards of up to `lookahead` turns from each. Turns
// whose move was not greedy end the lookahead before them, as the value of what
// an exploring move led to says nothing about the greedy policy; the first turn
// of a lookahead may be any. `greedy`: [turns].
// Source: Watkins, "Learning from Delayed Rewards", 1989, section 7.4 (the cut
// at exploring actions).
std::vector<StepTarget> LookaheadTargets(absl::Span<const float> rewards,
                                         const std::vector<bool>& greedy,
                                         int32_t lookahead, float discount);

}  // namespace hone::learning

#endif  // HONE_LEARNING_ADVANTAGE_H_
