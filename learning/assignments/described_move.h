#ifndef HONE_LEARNING_ASSIGNMENTS_DESCRIBED_MOVE_H_
#define HONE_LEARNING_ASSIGNMENTS_DESCRIBED_MOVE_H_

#include <cstddef>
#include <vector>

#include "space/local_state.h"

namespace hone::learning {

// Moves are drawn by the softmax of the gain that a policy expects, times this,
// plus the problem's own estimate. Of two moves that differ by a tenth the
// better one is drawn twice as often.
inline constexpr float kMoveSharpness = 8;

// A move of a local search as a policy sees it (space::LocalState::Propose and
// DescribeMove).
struct DescribedMove {
  std::vector<space::Change> changes;
  std::vector<float> features;
  float estimate = 0;  // AssignmentProblem::EstimateMove
};

// A move that was tried, with what it gained, within -0.3 … 6: the logarithm of
// the share of the cost that it saved, in units of a 4,000th, plus one; a loss
// is the share times 1,000.
struct TriedMove {
  DescribedMove move;
  float gain = 0;
};

// Moves that a policy chose one from.
struct MoveChoice {
  std::vector<DescribedMove> moves;  // at least 1
  size_t chosen = 0;
  float log_probability = 0;
  float gain = 0;  // of the one chosen
};

}  // namespace hone::learning

#endif  // HONE_LEARNING_ASSIGNMENTS_DESCRIBED_MOVE_H_
