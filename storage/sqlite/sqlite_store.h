#ifndef HONE_STORAGE_SQLITE_SQLITE_STORE_H_
#define HONE_STORAGE_SQLITE_SQLITE_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

#include "base/clock.h"
#include "storage/store.h"

namespace hone::storage {
namespace sqlite {
class BlobFiles;
class Database;
class Directory;
class ReaderPool;
class Reserve;
class UseLog;
class Writer;
struct Events;
}  // namespace sqlite

struct SqliteOptions {
  // Connections that read; each serves one call at a time.
  int readers = 4;
  // The time a call waits for a lock before it fails.
  absl::Duration busy_timeout = absl::Seconds(5);
  // The time that opening may spend on the search for corruption.
  absl::Duration quick_check_limit = absl::Seconds(1);
  // Disk space kept back for the state of what runs; 0: none.
  int64_t reserve_bytes = int64_t{16} << 20;
  // Sets Tuning::updated, and tells the age of records, tunings and blobs.
  const Clock* clock = &SystemClock();
};

// The durable store of one machine: a SQLite database and files for large blobs
// in one directory, used by one process. storage/SCHEMA.md describes both.
//
// A row or file that does not match its checksum is DataLoss if it is requested
// by name, and is left out of listings. Publishing or storing it again replaces
// it. A database whose structure is damaged is served as far as it can be read,
// and is not written to.
class SqliteStore final : public Store {
 public:
  // Opens the store in `directory`, creating it if it is missing and migrating
  // an older schema. Errors: Unavailable if another process uses it, naming
  // that process; FailedPrecondition for a store of a newer version, naming
  // both versions, and for a network filesystem, and after an interrupted
  // restoration; DataLoss if the file is no database.
  static absl::StatusOr<std::unique_ptr<SqliteStore>> Create(
      const std::string& directory, const SqliteOptions& options = {});
  // Waits for pending writes.
  ~SqliteStore() override;

  absl::StatusOr<std::string> PutBlob(absl::string_view bytes) override;
  absl::StatusOr<std::string> GetBlob(absl::string_view digest) override;
  absl::StatusOr<bool> HasBlob(absl::string_view digest) override;

  absl::StatusOr<Tuning> CreateTuning(const Tuning& tuning) override;
  absl::StatusOr<Tuning> GetTuning(absl::string_view id) override;
  absl::Status SetTuningState(absl::string_view id, TuningState state,
                              absl::string_view error) override;
  absl::Status SetTuningTarget(absl::string_view id,
                               absl::string_view target) override;
  absl::StatusOr<int64_t> CountAttempt(absl::string_view id) override;
  absl::StatusOr<Page<Tuning>> ListTunings(
      absl::Span<const TuningState> states, int32_t page_size,
      absl::string_view page_token) override;

  absl::Status AppendTrials(absl::string_view tuning_id,
                            absl::Span<const space::Trial> trials) override;
  absl::Status ForEachTrial(
      absl::string_view tuning_id,
      const std::function<void(space::Trial)>& visit) override;

  absl::StatusOr<bool> Publish(const Record& record) override;
  absl::StatusOr<Record> Lookup(const CacheKey& key) override;
  absl::StatusOr<Record> GetRecord(absl::string_view key_digest) override;
  absl::Status DeleteRecord(absl::string_view key_digest) override;
  absl::StatusOr<Page<Record>> ListRecords(
      const RecordFilter& filter, int32_t page_size,
      absl::string_view page_token) override;
  absl::StatusOr<int64_t> Invalidate(const RecordFilter& filter) override;
  absl::StatusOr<std::optional<Record>> FindNearest(
      const CacheKey& key) override;

  absl::Status SetAside(const QuarantinedModule& module) override;
  absl::StatusOr<std::vector<QuarantinedModule>> ListSetAside() override;
  absl::Status TakeBack(absl::string_view digest) override;

  absl::StatusOr<StoreStats> Stats() override;

  absl::Status Health() override;
  void NoteUse(const CacheKey& key) override;
  absl::StatusOr<CheckPage> Check(absl::string_view page_token) override;
  // Does nothing while a backup is made.
  absl::StatusOr<SweepResult> Sweep(const RetentionPolicy& policy) override;
  // Makes the folder DIRECTORY/backups/NAME.
  absl::StatusOr<BackupInfo> Backup(absl::string_view name) override;

  // Returns the number of corrupt rows and files met since Create.
  int64_t corrupt_count() const;

 private:
  SqliteStore(std::unique_ptr<sqlite::Directory> directory,
              const SqliteOptions& options);

  absl::Status Open(const SqliteOptions& options);
  absl::StatusOr<std::unique_ptr<sqlite::Database>> Connect(bool writes);

  // Runs a change on the writer, unless the database is damaged. Changes of
  // state may use the reserve.
  absl::Status Write(
      const std::function<absl::Status(sqlite::Database&)>& change,
      bool is_state = false);

  // The row of a blob; its data is in a file if it is not here.
  struct StoredBlob {
    int64_t size = 0;
    int64_t stored_size = 0;
    std::optional<std::string> data;
  };
  // The two halves of GetBlob, and HasBlob, without noting the use.
  static absl::StatusOr<StoredBlob> FindBlob(sqlite::Database& reader,
                                             absl::string_view digest);
  absl::StatusOr<std::string> ReadBlob(absl::string_view digest,
                                       StoredBlob stored);
  absl::StatusOr<bool> HasBlobRow(absl::string_view digest);

  // Parts of Check, each from `position` down.
  absl::StatusOr<CheckPage> CheckRecords(int64_t position);
  absl::StatusOr<CheckPage> CheckTunings(int64_t position);
  absl::StatusOr<CheckPage> CheckBlobs(int64_t position);
  absl::StatusOr<CheckPage> CheckStructure();

  absl::StatusOr<SweepResult> SweepLocked(const RetentionPolicy& policy)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(maintenance_mu_);
  // Parts of Sweep.
  absl::Status StoreUses();
  // Removes what was used before `cutoff`, oldest first; down to `max_bytes`
  // unless that is 0. Adds the keys of records.
  absl::Status RemoveOld(absl::Time cutoff, int64_t max_bytes,
                         std::vector<CacheKey>& keys, SweepResult& result);
  absl::Status CollectBlobs(SweepResult& result)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(maintenance_mu_);
  absl::Status CollectFiles() ABSL_EXCLUSIVE_LOCKS_REQUIRED(maintenance_mu_);

  // Counts the DataLoss of a blob, which no database call counts. Returns
  // `status`.
  absl::Status CountCorrupt(absl::Status status);

  const Clock& clock_;
  const absl::Duration busy_timeout_;
  const absl::Duration quick_check_limit_;
  // DataLoss if the structure of the database is damaged.
  absl::Status damage_;
  // One of Sweep and Backup at a time.
  absl::Mutex maintenance_mu_;
  std::string blob_cursor_ ABSL_GUARDED_BY(maintenance_mu_);
  int folder_cursor_ ABSL_GUARDED_BY(maintenance_mu_) = 0;
  // In the order of creation: each uses those before it until its end.
  std::unique_ptr<sqlite::Directory> directory_;
  std::unique_ptr<sqlite::Events> events_;
  std::unique_ptr<sqlite::UseLog> uses_;
  std::unique_ptr<sqlite::Reserve> reserve_;
  std::unique_ptr<sqlite::BlobFiles> blob_files_;
  std::unique_ptr<sqlite::Writer> writer_;
  std::unique_ptr<sqlite::ReaderPool> readers_;
};

}  // namespace hone::storage

#endif  // HONE_STORAGE_SQLITE_SQLITE_STORE_H_
