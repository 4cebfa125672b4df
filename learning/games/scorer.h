#ifndef HONE_LEARNING_GAMES_SCORER_H_
#define HONE_LEARNING_GAMES_SCORER_H_

#include <vector>

#include "absl/types/span.h"

#include "learning/games/game.h"

namespace hone::learning {

// A policy's output for a view.
struct MoveScores {
  // [moves]: logits of a policy, action values of a Q function.
  std::vector<float> scores;
  // The expected further rewards of the game.
  float value = 0;
};

// Scores moves.
class Scorer {
 public:
  virtual ~Scorer() = default;
  // Returns the scores of each view, in order.
  virtual std::vector<MoveScores> Score(
      absl::Span<const View* const> views) const = 0;
};

// Scores every move 0: the control that shows the value of a policy's scores to
// a search.
class UniformScorer final : public Scorer {
 public:
  std::vector<MoveScores> Score(
      absl::Span<const View* const> views) const override;
};

// Returns the logarithms of the softmax probabilities of `scores`.
std::vector<float> LogSoftmax(absl::Span<const float> scores);

}  // namespace hone::learning

#endif  // HONE_LEARNING_GAMES_SCORER_H_
