#ifndef HONE_STORAGE_CONTRACT_H_
#define HONE_STORAGE_CONTRACT_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "storage/record.h"
#include "storage/store.h"

// Decisions that are common to all implementations of Store.
namespace hone::storage {

absl::Status NoSuchBlob(absl::string_view digest);
absl::Status NoSuchTuning(absl::string_view id);
absl::Status NoSuchRecord(const CacheKey& key);
absl::Status NoRecordOfDigest(absl::string_view key_digest);
absl::Status TuningExists(absl::string_view id);
// FailedPrecondition: `tuning` is in a terminal state.
absl::Status TuningEnded(const Tuning& tuning);

// Changes the state of a tuning whose record is published.
// Errors: FailedPrecondition if it failed or was cancelled.
absl::Status MarkSucceeded(Tuning& tuning);

// Returns true if `record` takes the place of `published`, a record of the same
// key: its result is at least as good. Times are measured against each run's
// own default, so they are compared as the ratio of best to default cost; other
// costs mean the same in every run and are compared as they are. A record
// without a comparable result never replaces one that has it.
bool Replaces(const Record& record, const Record& published);

// Returns true if `tuning` is unfinished and searches as `wanted` does: same
// key, optimizer and seed.
bool IsUnfinishedTwin(const Tuning& tuning, const Tuning& wanted);

bool HasState(const Tuning& tuning, absl::Span<const TuningState> states);
bool Matches(const RecordFilter& filter, const Record& record);
// Returns the number of components that two keys have in common.
int SharedComponents(const CacheKey& a, const CacheKey& b);

absl::Status NotSetAside(absl::string_view digest);

}  // namespace hone::storage

#endif  // HONE_STORAGE_CONTRACT_H_
