#ifndef HONE_OPTIMIZERS_POLICIES_SCORER_H_
#define HONE_OPTIMIZERS_POLICIES_SCORER_H_

#include <vector>

#include "absl/types/span.h"

#include "optimizers/policies/game.h"

namespace hone::optimizers::policies {

// What a policy makes of a view.
struct MoveScores {
  // [moves]: logits of a policy, action values of a Q function.
  std::vector<float> scores;
  // What the game still earns.
  float value = 0;
};

// Anything that has an opinion on moves.
class Scorer {
 public:
  virtual ~Scorer() = default;
  // One for each view, in order.
  virtual std::vector<MoveScores> Score(
      absl::Span<const View* const> views) const = 0;
};

// Has none: every move scores 0. The control that shows what a policy's scores
// are worth to a search.
class UniformScorer final : public Scorer {
 public:
  std::vector<MoveScores> Score(
      absl::Span<const View* const> views) const override;
};

// Logarithms of the probabilities that a softmax over `scores` gives.
std::vector<float> LogSoftmax(absl::Span<const float> scores);

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_SCORER_H_
