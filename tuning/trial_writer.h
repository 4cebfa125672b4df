#ifndef HONE_TUNING_TRIAL_WRITER_H_
#define HONE_TUNING_TRIAL_WRITER_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "base/clock.h"
#include "space/trial.h"
#include "storage/store.h"

namespace hone::tuning {

// Stores trials as they happen, fast ones in groups: a trial is stored at the
// latest with the first one that arrives 200 ms after it.
class TrialWriter {
 public:
  TrialWriter(storage::Store& store, const Clock& clock, std::string tuning_id)
      : store_(store), clock_(clock), tuning_id_(std::move(tuning_id)) {}

  // Errors: the store's.
  absl::Status Add(const space::Trial& trial);
  absl::Status Flush();

 private:
  storage::Store& store_;
  const Clock& clock_;
  const std::string tuning_id_;
  std::vector<space::Trial> waiting_;
  absl::Duration first_waits_since_;
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TRIAL_WRITER_H_
