#ifndef HONE_LEARNING_COST_TRAINING_STATE_H_
#define HONE_LEARNING_COST_TRAINING_STATE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "learning/cost_training.h"

namespace hone::learning {

// The state of the training of a cost model between two epochs.
struct CostTrainingState {
  std::string fingerprint;  // of the training that it belongs to
  int64_t epoch = 0;        // epochs done
  double seconds = 0;       // that they took
  double best_error = 0;
  std::string best_weights;  // empty before the first validation
  std::string weights;
  std::string descent;
};

// Returns a digest of all that a training depends on but its time and files.
// `initial_weights`: the bytes.
std::string CostTrainingFingerprint(const CostTrainingSet& set,
                                    const CostTraining& training,
                                    absl::string_view initial_weights);

// Reads the state in `path`; nothing if there is no such file or `path` is
// empty. Errors: FailedPrecondition if it belongs to another training;
// InvalidArgument if it is no state file.
absl::StatusOr<std::optional<CostTrainingState>> ReadCostTrainingState(
    const std::string& path, absl::string_view fingerprint);

// Errors: those of WriteFileAtomically.
absl::Status WriteCostTrainingState(const std::string& path,
                                    const CostTrainingState& state);

}  // namespace hone::learning

#endif  // HONE_LEARNING_COST_TRAINING_STATE_H_
