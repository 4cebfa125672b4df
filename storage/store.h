#ifndef HONE_STORAGE_STORE_H_
#define HONE_STORAGE_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
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
};

struct StoreStats {
  int64_t records = 0;
  int64_t tunings = 0;
  int64_t trials = 0;
  int64_t blobs = 0;
  int64_t bytes = 0;      // of the store on disk
  int64_t wal_bytes = 0;  // of its write-ahead log; 0 without one
  int schema_version = 0;
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
  // Returns all trials of a tuning by id.
  virtual absl::StatusOr<std::vector<space::Trial>> ListTrials(
      absl::string_view tuning_id) = 0;

  // Publishes `record` unless a better record of the same key is published
  // (Replaces in contract.h), and marks its tuning (if it names one) succeeded,
  // in one transaction. Returns true if `record` is now the published one.
  // Errors: NotFound for the tuning; FailedPrecondition if it failed or was
  // cancelled. Nothing changes in either case.
  virtual absl::StatusOr<bool> Publish(const Record& record) = 0;
  // Errors: NotFound.
  virtual absl::StatusOr<Record> Lookup(const CacheKey& key) = 0;
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

  virtual absl::StatusOr<StoreStats> Stats() = 0;
};

}  // namespace hone::storage

#endif  // HONE_STORAGE_STORE_H_
