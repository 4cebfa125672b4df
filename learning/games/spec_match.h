#ifndef HONE_LEARNING_GAMES_SPEC_MATCH_H_
#define HONE_LEARNING_GAMES_SPEC_MATCH_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

#include "learning/games/game.h"

namespace hone::learning {

// Stands for something that the saved weights do not know.
inline constexpr int64_t kUnknown = -1;

// For each kind and feature of a spec: its index in the spec of saved weights,
// or kUnknown. The last kind of move, to stop, is among the move kinds; the
// features that a game adds to those of actions are not.
struct SpecMatch {
  std::vector<int64_t> move_kinds;
  std::vector<int64_t> move_features;
  std::vector<int64_t> node_kinds;
  std::vector<int64_t> node_features;
  std::vector<int64_t> edge_features;
  std::vector<int64_t> global_features;
};

// Matches `spec` with the spec of saved weights: actions by name, the parts of
// an observation by name where both have names, by index elsewhere. Equal names
// match in their order.
// Errors: InvalidArgument, with the list concerned, if counts differ that are
// matched by index, if one side alone has edge features, or if no action is
// known by its name.
absl::StatusOr<SpecMatch> MatchSpecs(const GameSpec& saved,
                                     const GameSpec& spec);

}  // namespace hone::learning

#endif  // HONE_LEARNING_GAMES_SPEC_MATCH_H_
