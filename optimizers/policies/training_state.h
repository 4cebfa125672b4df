#ifndef HONE_OPTIMIZERS_POLICIES_TRAINING_STATE_H_
#define HONE_OPTIMIZERS_POLICIES_TRAINING_STATE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hone::optimizers::policies {

// Where a training stands between two updates.
struct TrainingState {
  // The set, seed and options that it belongs to.
  std::string fingerprint;
  int64_t update = 0;
  double seconds_before = 0;
  double best_validation = 0;
  // By training problem: the best game known; empty before it was searched.
  std::vector<std::vector<int32_t>> best_moves;
  std::string weights;
  std::string gradient_descent;
};

// The state in `path`; nothing when there is no such file or `path` is empty.
// Errors: FailedPrecondition when it belongs to another training;
// InvalidArgument when it is no such file.
absl::StatusOr<std::optional<TrainingState>> ReadTrainingState(
    const std::string& path, absl::string_view fingerprint);

// Does nothing when `path` is empty.
// Errors: those of WriteFileAtomically.
absl::Status WriteTrainingState(const std::string& path,
                                const TrainingState& state);

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_TRAINING_STATE_H_
