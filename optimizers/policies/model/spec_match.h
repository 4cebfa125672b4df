#ifndef HONE_OPTIMIZERS_POLICIES_MODEL_SPEC_MATCH_H_
#define HONE_OPTIMIZERS_POLICIES_MODEL_SPEC_MATCH_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

#include "optimizers/policies/game/game.h"

namespace hone::optimizers::policies {

// Stands for something that the saved weights do not know.
inline constexpr int64_t kUnknown = -1;

// For each move kind, node kind and global feature of a spec: its index in the
// spec of saved weights, or kUnknown.
struct SpecMatch {
  std::vector<int64_t> move_kinds;
  std::vector<int64_t> node_kinds;
  std::vector<int64_t> global_features;
};

// Matches `spec` with the spec of saved weights: by name where both have names,
// by index elsewhere. Equal names match in their order.
// Errors: InvalidArgument if counts differ that are matched by index, or if no
// action is known by its name.
absl::StatusOr<SpecMatch> MatchSpecs(const GameSpec& saved,
                                     const GameSpec& spec);

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_MODEL_SPEC_MATCH_H_
