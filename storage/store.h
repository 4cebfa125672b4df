#ifndef HONE_STORAGE_STORE_H_
#define HONE_STORAGE_STORE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

#include "space/trial.h"
#include "storage/record.h"

namespace hone::storage {

// A part of a listing. `next_page_token` is empty at the end; otherwise it is
// the argument of the next call.
template <typename T>
struct Page {
  std::vector<T> items;
  std::string next_page_token;
};

// Selects records; empty fields match all.
struct RecordFilter {
  std::string module_fingerprint = "";
  std::string target = "";
  std::string task = "";
  std::string producer = "";
  // One of Verification::measured_by.
  std::string measured_by = "";
  // Bounds of Record::created: at or after the first, before the second.
  absl::Time created_after = absl::InfinitePast();
  absl::Time created_before = absl::InfiniteFuture();
};

struct StoreStats {
  int64_t records = 0;
  int64_t tunings = 0;
  int64_t trials = 0;
  int64_t blobs = 0;
  int64_t bytes = 0;      // of the store on disk
  int64_t wal_bytes = 0;  // of its write-ahead log; 0 without one
  int64_t corrupt = 0;    // items that were found corrupt since the opening
  int schema_version = 0;
};

// An item that cannot be read, or the rows around one.
struct CorruptItem {
  std::string table;  // "record", "tuning", "trial", "blob", "database"
  std::string key;    // in that table
  std::string what;
};

// A part of a check; `next_page_token` as in Page.
struct CheckPage {
  std::vector<CorruptItem> corrupt;
  int64_t checked = 0;  // rows
  std::string next_page_token;
};

struct RetentionPolicy {
  // Records that nobody has asked for, and finished tunings, are removed after
  // this time.
  absl::Duration max_age = absl::InfiniteDuration();
  // Beyond this size, those used longest ago are removed; 0: no limit.
  int64_t max_bytes = 0;
};

// The result of a step of retention.
struct SweepResult {
  std::vector<CacheKey> expired;  // records removed because of their age
  std::vector<CacheKey> evicted;  // records removed because of the size
  int64_t tunings = 0;            // finished tunings removed, with their trials
  int64_t blobs = 0;              // blobs removed because nothing needs them
  bool more = false;              // another step would remove more
};

struct BackupInfo {
  std::string path;
  int64_t records = 0;
  int64_t bytes = 0;
};

// Stores tunings, trials, records and modules. In durable implementations, a
// change acknowledged with OK survives a crash of the process and the machine.
//
// Threads: thread-safe.
// Errors common to all methods: Unavailable if another process has locked the
// store, or if it is busy for too long; ResourceExhausted if the disk is full
// (reads still work); DataLoss if it is corrupt.
class Store {
 public:
  virtual ~Store() = default;

  // Content-addressed bytes (modules). Returns their SHA-256; storing the same
  // bytes again is free.
  virtual absl::StatusOr<std::string> PutBlob(absl::string_view bytes) = 0;
  // Errors: NotFound; DataLoss if the bytes do not match the digest.
  virtual absl::StatusOr<std::string> GetBlob(absl::string_view digest) = 0;
  virtual absl::StatusOr<bool> HasBlob(absl::string_view digest) = 0;

  // Stores `tuning` and returns it. If an unfinished tuning has the same key,
  // optimizer and seed, returns that one and stores nothing. One transaction:
  // of identical requests at the same moment, one creates and the others join.
  // Errors: AlreadyExists if the id is taken.
  virtual absl::StatusOr<Tuning> CreateTuning(const Tuning& tuning) = 0;
  // Errors: NotFound.
  virtual absl::StatusOr<Tuning> GetTuning(absl::string_view id) = 0;
  // Sets state and error. Errors: NotFound; FailedPrecondition if the tuning is
  // already in a terminal state.
  virtual absl::Status SetTuningState(absl::string_view id, TuningState state,
                                      absl::string_view error) = 0;
  // Sets the target of an unfinished tuning that waited for a device.
  // Errors: NotFound; FailedPrecondition if the tuning is in a terminal state.
  virtual absl::Status SetTuningTarget(absl::string_view id,
                                       absl::string_view target) = 0;
  // Counts one more attempt to run a tuning, and returns the attempts since it
  // last had a new trial, this one included. Errors: NotFound.
  virtual absl::StatusOr<int64_t> CountAttempt(absl::string_view id) = 0;
  // Newest first. `states` empty: all. page_size 0: a default.
  // Errors: InvalidArgument for a negative size or a token not of this listing.
  virtual absl::StatusOr<Page<Tuning>> ListTunings(
      absl::Span<const TuningState> states, int32_t page_size,
      absl::string_view page_token) = 0;

  // Appends trials (ids consecutive) and updates the tuning's counters and best
  // cost in the same transaction; trial 0 is the default. Trials that are
  // already stored are skipped.
  // Errors: NotFound for the tuning; FailedPrecondition for a gap in the ids.
  virtual absl::Status AppendTrials(absl::string_view tuning_id,
                                    absl::Span<const space::Trial> trials) = 0;
  // Calls `visit`, which uses no store, for each trial of a tuning by id, one
  // at a time: all at once may be more than fits in memory. After an error, not
  // all were visited.
  virtual absl::Status ForEachTrial(
      absl::string_view tuning_id,
      const std::function<void(space::Trial)>& visit) = 0;
  // Returns all trials of a tuning by id.
  absl::StatusOr<std::vector<space::Trial>> ListTrials(
      absl::string_view tuning_id);

  // Publishes `record` unless a better record of the same key is published
  // (Replaces in contract.h), and marks its tuning (if it names one) succeeded,
  // in one transaction. Returns true if `record` is now the published one.
  // Errors: NotFound for the tuning; FailedPrecondition if it failed or was
  // cancelled. Nothing changes in either case.
  virtual absl::StatusOr<bool> Publish(const Record& record) = 0;
  // Errors: NotFound.
  virtual absl::StatusOr<Record> Lookup(const CacheKey& key) = 0;
  // Returns the record of the key with this digest (CacheKey::Digest), or
  // removes it, corrupt or not. Neither is a use. Errors: NotFound.
  virtual absl::StatusOr<Record> GetRecord(absl::string_view key_digest) = 0;
  virtual absl::Status DeleteRecord(absl::string_view key_digest) = 0;
  // Newest first; as ListTunings.
  virtual absl::StatusOr<Page<Record>> ListRecords(
      const RecordFilter& filter, int32_t page_size,
      absl::string_view page_token) = 0;
  // Removes matching records from the cache; returns how many.
  virtual absl::StatusOr<int64_t> Invalidate(const RecordFilter& filter) = 0;
  // Returns the record that shares most components with `key` (ties: the
  // newest), to explain a miss; nullopt if the cache is empty.
  virtual absl::StatusOr<std::optional<Record>> FindNearest(
      const CacheKey& key) = 0;

  // Sets a module aside, or changes the reason; lists those set aside, by
  // digest; takes one back (NotFound if it is not set aside).
  virtual absl::Status SetAside(const QuarantinedModule& module) = 0;
  virtual absl::StatusOr<std::vector<QuarantinedModule>> ListSetAside() = 0;
  virtual absl::Status TakeBack(absl::string_view digest) = 0;

  virtual absl::StatusOr<StoreStats> Stats() = 0;

  // The rest is for durable implementations; the others have nothing to do.

  // Returns OK if changes can be stored, else why the last one could not.
  // Recovers with the first change that can be stored; Sweep tries one.
  virtual absl::Status Health() { return absl::OkStatus(); }

  // Notes that a record was found without Lookup. Does not block.
  virtual void NoteUse(const CacheKey& /*key*/) {}

  // Reads a bounded part of the store, to find what is corrupt. The first token
  // is "". Errors: InvalidArgument for a token that no check returned.
  virtual absl::StatusOr<CheckPage> Check(absl::string_view /*page_token*/) {
    return CheckPage();
  }

  // Takes one bounded step of retention: stores which records and blobs were
  // used, removes records and finished tunings by `policy`, and blobs that
  // nothing refers to and nobody has used for a day.
  virtual absl::StatusOr<SweepResult> Sweep(const RetentionPolicy& /*policy*/) {
    return SweepResult();
  }

  // Copies the store as it is at one moment, while it is in use, and verifies
  // the copy. `name` is one of IsBackupName.
  // Errors: InvalidArgument for the name; AlreadyExists; Unimplemented without
  // files.
  virtual absl::StatusOr<BackupInfo> Backup(absl::string_view /*name*/) {
    return absl::UnimplementedError("this store has no files to copy");
  }
};

}  // namespace hone::storage

#endif  // HONE_STORAGE_STORE_H_
