#ifndef HONE_STORAGE_TRIAL_LOG_H_
#define HONE_STORAGE_TRIAL_LOG_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "space/trial.h"
#include "storage/record.h"

namespace hone::storage {

// Returns the part of `trials` that the log of `tuning` does not have yet,
// after adding it to the tuning's counters and costs. Trial 0 is the default,
// which every search measures first. Errors: FailedPrecondition if ids are not
// consecutive or leave a gap after the log.
absl::StatusOr<absl::Span<const space::Trial>> ExtendTrialLog(
    absl::Span<const space::Trial> trials, Tuning& tuning);

}  // namespace hone::storage

#endif  // HONE_STORAGE_TRIAL_LOG_H_
