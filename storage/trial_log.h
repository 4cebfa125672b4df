#ifndef HONE_STORAGE_TRIAL_LOG_H_
#define HONE_STORAGE_TRIAL_LOG_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "space/trial.h"
#include "storage/record.h"

namespace hone::storage {

// The part of `trials` that is not in the log of `tuning` yet, added to its
// counters and costs. The cost of trial 0 is the default's, as every search
// measures the default first.
// Errors: FailedPrecondition when ids are not consecutive or leave a gap after
// the log.
absl::StatusOr<absl::Span<const space::Trial>> ExtendTrialLog(
    absl::Span<const space::Trial> trials, Tuning& tuning);

}  // namespace hone::storage

#endif  // HONE_STORAGE_TRIAL_LOG_H_
