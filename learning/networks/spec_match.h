#ifndef HONE_LEARNING_NETWORKS_SPEC_MATCH_H_
#define HONE_LEARNING_NETWORKS_SPEC_MATCH_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

#include "learning/assignments/value_view.h"
#include "learning/cost/cost_samples.h"
#include "learning/games/game.h"

namespace hone::learning {

// Stands for something that the saved weights do not know.
inline constexpr int64_t kUnknown = -1;

// For each kind and feature of an observation: its index in that of saved
// weights, or kUnknown.
struct ObservationMatch {
  std::vector<int64_t> node_kinds;
  std::vector<int64_t> node_features;
  std::vector<int64_t> edge_features;
  std::vector<int64_t> global_features;
};

// The same for a game. The last kind of move, to stop, is among the move kinds;
// the features that a game adds to those of actions are not.
struct SpecMatch : ObservationMatch {
  std::vector<int64_t> move_kinds;
  std::vector<int64_t> move_features;
};

// The same for assignments: the features of the values of each group, those
// that every assignment has (ValueStateNames), and those of moves.
struct AssignmentMatch : ObservationMatch {
  std::vector<std::vector<int64_t>> value_features;
  std::vector<int64_t> state_features;
  std::vector<int64_t> move_features;
};

// The same for a cost model and the features of configurations. Heads have the
// same names in both.
struct CostMatch : ObservationMatch {
  std::vector<int64_t> config;
  int64_t saved_node_features = 0;  // their number
};

// Match `spec` with the spec of saved weights: actions, groups and heads by
// name, the parts of an observation by name where both have names, by index
// elsewhere. Equal names match in their order.
// Errors: InvalidArgument, with the list concerned, if counts differ that are
// matched by index, if one side alone has edge features, if no name of a list
// is known, if a group or a head is not, or if a head has another target or the
// features another version.
absl::StatusOr<SpecMatch> MatchSpecs(const GameSpec& saved,
                                     const GameSpec& spec);
absl::StatusOr<AssignmentMatch> MatchSpecs(const AssignmentSpec& saved,
                                           const AssignmentSpec& spec);
absl::StatusOr<CostMatch> MatchSpecs(const CostSpec& saved,
                                     const CostSpec& spec);

}  // namespace hone::learning

#endif  // HONE_LEARNING_NETWORKS_SPEC_MATCH_H_
