#include "learning/games/scorer.h"

#include <algorithm>
#include <cmath>

namespace hone::learning {

std::vector<MoveScores> UniformScorer::Score(
    absl::Span<const View* const> views) const {
  std::vector<MoveScores> result;
  for (const View* view : views) {
    result.push_back({std::vector<float>(view->moves.size(), 0), 0});
  }
  return result;
}

std::vector<float> LogSoftmax(absl::Span<const float> scores) {
  const float maximum = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (float score : scores) sum += std::exp(score - maximum);
  const float log_sum = maximum + static_cast<float>(std::log(sum));
  std::vector<float> result;
  for (float score : scores) result.push_back(score - log_sum);
  return result;
}

}  // namespace hone::learning
