#include "learning/advantage.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace hone::learning {

Advantages GeneralizedAdvantages(absl::Span<const float> rewards,
                                 absl::Span<const float> values,
                                 float value_after, float discount,
                                 float trace) {
  Advantages result;
  result.advantages.resize(rewards.size());
  result.returns.resize(rewards.size());
  float advantage = 0;
  float next_value = value_after;
  for (size_t t = rewards.size(); t-- > 0;) {
    const float surprise = rewards[t] + discount * next_value - values[t];
    advantage = surprise + discount * trace * advantage;
    result.advantages[t] = advantage;
    result.returns[t] = advantage + values[t];
    next_value = values[t];
  }
  return result;
}

std::vector<float> GroupAdvantages(absl::Span<const float> totals,
                                   float least_deviation) {
  std::vector<float> advantages(totals.begin(), totals.end());
  if (advantages.empty()) return advantages;
  // Exactly 0 for equal totals, whatever the rounding of their sum.
  const float first = totals[0];
  double sum = 0;
  for (float& value : advantages) {
    value -= first;
    sum += static_cast<double>(value);
  }
  const auto mean =
      static_cast<float>(sum / static_cast<double>(advantages.size()));
  for (float& value : advantages) value -= mean;
  ScaleToUnit(advantages, least_deviation);
  return advantages;
}

void ScaleToUnit(std::vector<float>& values, float least) {
  if (values.empty()) return;
  double square = 0;
  for (const float value : values) {
    square += static_cast<double>(value) * static_cast<double>(value);
  }
  const auto unit = std::max(static_cast<float>(std::sqrt(
                                 square / static_cast<double>(values.size()))),
                             least);
  for (float& value : values) value /= unit;
}

std::vector<StepTarget> LookaheadTargets(absl::Span<const float> rewards,
                                         const std::vector<bool>& greedy,
                                         int32_t lookahead, float discount) {
  std::vector<StepTarget> targets(rewards.size());
  for (size_t t = 0; t < rewards.size(); ++t) {
    StepTarget& target = targets[t];
    size_t end = t;
    do {
      target.reward += target.discount * rewards[end];
      target.discount *= discount;
      ++end;
    } while (end < rewards.size() && end < t + static_cast<size_t>(lookahead) &&
             greedy[end]);
    if (end < rewards.size()) target.next = static_cast<int64_t>(end);
  }
  return targets;
}

}  // namespace hone::learning
