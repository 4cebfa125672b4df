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

// The state of a training between two updates.
struct TrainingState {
  // The set, seed and options that it belongs to.
  std::string fingerprint;
  int64_t label_rounds = 0;
  int64_t update = 0;
  double seconds_before = 0;
  double validation = 0;  // the last one
  double best_validation = 0;
  // The best known solution of each training problem, as its trainee has it;
  // empty before its search.
  std::vector<std::vector<int32_t>> best;
  std::string weights;
  std::string gradient_descent;
};

// Reads the state in `path`; nothing if there is no such file or `path` is
// empty. Errors: FailedPrecondition if it belongs to another training;
// InvalidArgument if it is no state file.
absl::StatusOr<std::optional<TrainingState>> ReadTrainingState(
    const std::string& path, absl::string_view fingerprint);

// Writes the state to `path`, unless that is empty.
// Errors: those of WriteFileAtomically.
absl::Status WriteTrainingState(const std::string& path,
                                const TrainingState& state);

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_TRAINING_STATE_H_
