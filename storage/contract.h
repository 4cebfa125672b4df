#ifndef HONE_STORAGE_CONTRACT_H_
#define HONE_STORAGE_CONTRACT_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "storage/record.h"
#include "storage/store.h"

// What every implementation of Store must decide alike.
namespace hone::storage {

absl::Status NoSuchBlob(absl::string_view digest);
absl::Status NoSuchTuning(absl::string_view id);
absl::Status NoSuchRecord(const CacheKey& key);
absl::Status TuningExists(absl::string_view id);
// FailedPrecondition: `tuning` is in a terminal state.
absl::Status TuningEnded(const Tuning& tuning);

// What publishing does to a tuning's state.
// Errors: FailedPrecondition when it failed or was cancelled.
absl::Status MarkSucceeded(Tuning& tuning);

bool HasState(const Tuning& tuning, absl::Span<const TuningState> states);
bool Matches(const RecordFilter& filter, const Record& record);
// Components that two keys have in common.
int SharedComponents(const CacheKey& a, const CacheKey& b);

}  // namespace hone::storage

#endif  // HONE_STORAGE_CONTRACT_H_
