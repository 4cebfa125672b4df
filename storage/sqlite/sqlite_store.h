#ifndef HONE_STORAGE_SQLITE_SQLITE_STORE_H_
#define HONE_STORAGE_SQLITE_SQLITE_STORE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "base/clock.h"
#include "storage/store.h"

namespace hone::storage {
namespace sqlite {
class BlobFiles;
class Database;
class Directory;
class ReaderPool;
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
  // Sets Tuning::updated.
  const Clock* clock = &SystemClock();
};

// The durable store of one machine: a SQLite database and files for large blobs
// in one directory, used by one process. storage/SCHEMA.md describes both.
//
// A row or file that does not match its checksum is DataLoss if it is requested
// by name, and is left out of listings. Publishing or storing it again replaces
// it.
class SqliteStore final : public Store {
 public:
  // Opens the store in `directory`, creating it if it is missing and migrating
  // an older schema. Errors: Unavailable if another process uses it, naming
  // that process; FailedPrecondition for a store of a newer version, naming
  // both versions, and for a network filesystem; DataLoss if it is corrupt.
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
  absl::StatusOr<Page<Tuning>> ListTunings(
      absl::Span<const TuningState> states, int32_t page_size,
      absl::string_view page_token) override;

  absl::Status AppendTrials(absl::string_view tuning_id,
                            absl::Span<const space::Trial> trials) override;
  absl::StatusOr<std::vector<space::Trial>> ListTrials(
      absl::string_view tuning_id) override;

  absl::StatusOr<bool> Publish(const Record& record) override;
  absl::StatusOr<Record> Lookup(const CacheKey& key) override;
  absl::StatusOr<Page<Record>> ListRecords(
      const RecordFilter& filter, int32_t page_size,
      absl::string_view page_token) override;
  absl::StatusOr<int64_t> Invalidate(const RecordFilter& filter) override;
  absl::StatusOr<std::optional<Record>> FindNearest(
      const CacheKey& key) override;

  absl::StatusOr<StoreStats> Stats() override;

  // Returns the number of corrupt rows and files met since Create.
  int64_t corrupt_count() const;

 private:
  SqliteStore(std::unique_ptr<sqlite::Directory> directory,
              const SqliteOptions& options);

  // Counts the DataLoss of a blob, which no database call counts. Returns
  // `status`.
  absl::Status CountCorrupt(absl::Status status);

  const Clock& clock_;
  // In the order of creation: each uses those before it until its end.
  std::unique_ptr<sqlite::Directory> directory_;
  std::unique_ptr<sqlite::Events> events_;
  std::unique_ptr<sqlite::BlobFiles> blob_files_;
  std::unique_ptr<sqlite::Writer> writer_;
  std::unique_ptr<sqlite::ReaderPool> readers_;
};

}  // namespace hone::storage

#endif  // HONE_STORAGE_SQLITE_SQLITE_STORE_H_
