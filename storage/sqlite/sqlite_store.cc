#include "storage/sqlite/sqlite_store.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "storage/sqlite/blob_files.h"
#include "storage/sqlite/database.h"
#include "storage/sqlite/directory.h"
#include "storage/sqlite/migrations.h"
#include "storage/sqlite/reader_pool.h"
#include "storage/sqlite/reserve.h"
#include "storage/sqlite/restore.h"
#include "storage/sqlite/schema_check.h"
#include "storage/sqlite/use_log.h"
#include "storage/sqlite/writer.h"

namespace hone::storage {
namespace {

using sqlite::Database;
using sqlite::Statement;

std::string DatabasePath(const sqlite::Directory& directory) {
  return absl::StrCat(directory.path(), "/hone.db");
}

int64_t FileSize(const std::string& path) {
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  return error ? 0 : static_cast<int64_t>(size);
}

}  // namespace

SqliteStore::SqliteStore(std::unique_ptr<sqlite::Directory> directory,
                         const SqliteOptions& options)
    : clock_(*options.clock),
      busy_timeout_(options.busy_timeout),
      quick_check_limit_(options.quick_check_limit),
      directory_(std::move(directory)),
      events_(std::make_unique<sqlite::Events>()),
      uses_(std::make_unique<sqlite::UseLog>()),
      reserve_(std::make_unique<sqlite::Reserve>(
          absl::StrCat(directory_->path(), "/reserve"),
          options.reserve_bytes)) {}

SqliteStore::~SqliteStore() = default;

absl::StatusOr<std::unique_ptr<SqliteStore>> SqliteStore::Create(
    const std::string& directory, const SqliteOptions& options) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<sqlite::Directory> lock,
                        sqlite::Directory::Lock(directory));
  HONE_RETURN_IF_ERROR(sqlite::CheckRestored(directory));
  std::unique_ptr<SqliteStore> store(new SqliteStore(std::move(lock), options));
  absl::Status status = store->Open(options);
  if (absl::IsResourceExhausted(status)) {
    // A full disk must not keep what is stored from being served.
    store->reserve_->Release();
    status = store->Open(options);
  }
  HONE_RETURN_IF_ERROR(status);
  return store;
}

absl::StatusOr<std::unique_ptr<Database>> SqliteStore::Connect(bool writes) {
  return Database::Open(
      DatabasePath(*directory_),
      writes ? Database::Mode::kReadWrite : Database::Mode::kReadOnly,
      busy_timeout_, events_.get());
}

absl::Status SqliteStore::Open(const SqliteOptions& options) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Database> writer,
                        Connect(/*writes=*/true));
  HONE_RETURN_IF_ERROR(sqlite::Migrate(*writer, DatabasePath(*directory_),
                                       sqlite::Migrations()));
  HONE_RETURN_IF_ERROR(sqlite::CheckSchema(*writer, DatabasePath(*directory_)));
  damage_ = writer->QuickCheck(options.quick_check_limit);
  if (!damage_.ok() && !absl::IsDataLoss(damage_)) return damage_;
  std::vector<std::unique_ptr<Database>> readers;
  while (readers.size() < static_cast<size_t>(std::max(options.readers, 1))) {
    HONE_ASSIGN_OR_RETURN(readers.emplace_back(), Connect(/*writes=*/false));
    // Opens the log, so that lookups need no file that cannot be opened later.
    HONE_RETURN_IF_ERROR(
        readers.back()->QueryInt("SELECT records FROM total").status());
  }
  blob_files_ = std::make_unique<sqlite::BlobFiles>(directory_->path());
  writer_ = std::make_unique<sqlite::Writer>(std::move(writer), reserve_.get());
  readers_ = std::make_unique<sqlite::ReaderPool>(std::move(readers));
  return absl::OkStatus();
}

absl::Status SqliteStore::Write(
    const std::function<absl::Status(Database&)>& change, bool is_state) {
  HONE_RETURN_IF_ERROR(damage_);
  return writer_->Run(change, is_state ? sqlite::Writer::Importance::kState
                                       : sqlite::Writer::Importance::kOrdinary);
}

absl::Status SqliteStore::Health() {
  HONE_RETURN_IF_ERROR(damage_);
  return writer_->health();
}

void SqliteStore::NoteUse(const CacheKey& key) { uses_->NoteRecord(key); }

absl::Status SqliteStore::CountCorrupt(absl::Status status) {
  if (absl::IsDataLoss(status)) ++events_->corrupt;
  return status;
}

int64_t SqliteStore::corrupt_count() const { return events_->corrupt; }

absl::StatusOr<StoreStats> SqliteStore::Stats() {
  const sqlite::ReaderPool::Lease reader = readers_->Borrow();
  HONE_ASSIGN_OR_RETURN(
      Statement query,
      reader->Prepare("SELECT records, tunings, trials, blobs, file_bytes"
                      " FROM total WHERE id = 1"));
  HONE_RETURN_IF_ERROR(query.Run());
  StoreStats stats;
  stats.records = query.Int(0);
  stats.tunings = query.Int(1);
  stats.trials = query.Int(2);
  stats.blobs = query.Int(3);
  const std::string path = DatabasePath(*directory_);
  stats.wal_bytes = FileSize(path + "-wal");
  stats.bytes = FileSize(path) + stats.wal_bytes + query.Int(4);
  HONE_ASSIGN_OR_RETURN(const int64_t version,
                        reader->QueryInt("PRAGMA user_version"));
  stats.schema_version = static_cast<int>(version);
  stats.corrupt = corrupt_count();
  return stats;
}

}  // namespace hone::storage
