#ifndef HONE_LEARNING_NETWORKS_MOVE_ROWS_H_
#define HONE_LEARNING_NETWORKS_MOVE_ROWS_H_

#include <vector>

#include "absl/types/span.h"
#include <torch/torch.h>

#include "learning/assignments/described_move.h"
#include "learning/assignments/value_view.h"

namespace hone::learning {

// Moves of one problem as tensors: M moves, and of each group the C changes
// that they make.
struct MoveRows {
  struct Changes {
    torch::Tensor moves;   // [C] int64: the move that makes it
    torch::Tensor nodes;   // [C] int64: the node of its variable
    torch::Tensor values;  // [C] int64: the new value
  };
  std::vector<Changes> groups;
  std::vector<torch::Tensor> value_features;  // of each group: [D, features]
  torch::Tensor features;                     // [M, move features]
  torch::Tensor counts;                       // [M, 1]: changes, at least 1
};

// Returns the rows of `moves`. A move with many changes is represented by some
// of them.
MoveRows MakeMoveRows(const ValueView& view,
                      absl::Span<const DescribedMove* const> moves);

}  // namespace hone::learning

#endif  // HONE_LEARNING_NETWORKS_MOVE_ROWS_H_
