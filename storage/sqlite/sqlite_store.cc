#include "storage/sqlite/sqlite_store.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include <zstd.h>

#include "base/hash.h"
#include "base/status_macros.h"
#include "storage/contract.h"
#include "storage/sqlite/blob_files.h"
#include "storage/sqlite/compression.h"
#include "storage/sqlite/database.h"
#include "storage/sqlite/directory.h"
#include "storage/sqlite/migrations.h"
#include "storage/sqlite/reader_pool.h"
#include "storage/sqlite/writer.h"

namespace hone::storage {
namespace {

using sqlite::Database;
using sqlite::Statement;

// Compressed bytes over which a blob is a file.
constexpr size_t kMaxInlineBytes = 100 << 10;
// Guards against allocating what a corrupt size says.
constexpr size_t kMaxBlobBytes = size_t{4} << 30;

std::string DatabasePath(const sqlite::Directory& directory) {
  return absl::StrCat(directory.path(), "/hone.db");
}

int64_t FileSize(const std::string& path) {
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  return error ? 0 : static_cast<int64_t>(size);
}

absl::StatusOr<std::string> Decompress(absl::string_view digest, int64_t size,
                                       absl::string_view stored) {
  const auto corrupt = [&] {
    return absl::DataLossError(absl::StrCat("blob ", digest, " is corrupt"));
  };
  if (size < 0 || static_cast<size_t>(size) > kMaxBlobBytes ||
      ZSTD_getFrameContentSize(stored.data(), stored.size()) !=
          static_cast<uint64_t>(size)) {
    return corrupt();
  }
  std::string bytes(static_cast<size_t>(size), '\0');
  const size_t actual =
      ZSTD_decompress(bytes.data(), bytes.size(), stored.data(), stored.size());
  if (actual != bytes.size() || Sha256Hex(bytes) != digest) return corrupt();
  return bytes;
}

}  // namespace

SqliteStore::SqliteStore(std::unique_ptr<sqlite::Directory> directory,
                         const SqliteOptions& options)
    : clock_(*options.clock),
      directory_(std::move(directory)),
      events_(std::make_unique<sqlite::Events>()) {}

SqliteStore::~SqliteStore() = default;

absl::StatusOr<std::unique_ptr<SqliteStore>> SqliteStore::Create(
    const std::string& directory, const SqliteOptions& options) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<sqlite::Directory> lock,
                        sqlite::Directory::Lock(directory));
  std::unique_ptr<SqliteStore> store(new SqliteStore(std::move(lock), options));
  const std::string path = DatabasePath(*store->directory_);
  const auto open = [&](Database::Mode mode) {
    return Database::Open(path, mode, options.busy_timeout,
                          store->events_.get());
  };
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Database> writer,
                        open(Database::Mode::kReadWrite));
  HONE_RETURN_IF_ERROR(sqlite::Migrate(*writer, path, sqlite::Migrations()));
  HONE_RETURN_IF_ERROR(writer->QuickCheck(options.quick_check_limit));
  std::vector<std::unique_ptr<Database>> readers;
  while (readers.size() < static_cast<size_t>(std::max(options.readers, 1))) {
    HONE_ASSIGN_OR_RETURN(readers.emplace_back(),
                          open(Database::Mode::kReadOnly));
  }
  store->blob_files_ = std::make_unique<sqlite::BlobFiles>(directory);
  store->writer_ = std::make_unique<sqlite::Writer>(std::move(writer));
  store->readers_ = std::make_unique<sqlite::ReaderPool>(std::move(readers));
  return store;
}

absl::Status SqliteStore::CountCorrupt(absl::Status status) {
  if (absl::IsDataLoss(status)) ++events_->corrupt;
  return status;
}

int64_t SqliteStore::corrupt_count() const { return events_->corrupt; }

absl::StatusOr<std::string> SqliteStore::PutBlob(absl::string_view bytes) {
  if (bytes.size() > kMaxBlobBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "blob of ", bytes.size(), " bytes, expected at most ", kMaxBlobBytes));
  }
  std::string digest = Sha256Hex(bytes);
  const absl::Status present = GetBlob(digest).status();
  if (present.ok()) return digest;
  // A corrupt blob is written anew.
  if (!absl::IsNotFound(present) && !absl::IsDataLoss(present)) return present;

  HONE_ASSIGN_OR_RETURN(const std::string stored, Compress(bytes));
  const bool is_file = stored.size() > kMaxInlineBytes;
  if (is_file) HONE_RETURN_IF_ERROR(blob_files_->Write(digest, stored));
  HONE_RETURN_IF_ERROR(writer_->Run([&](Database& database) -> absl::Status {
    HONE_ASSIGN_OR_RETURN(Statement insert,
                          database.Prepare("INSERT OR REPLACE INTO blob "
                                           "(digest, size, stored_size, data) "
                                           "VALUES (?1, ?2, ?3, ?4)"));
    insert.Bind(digest, static_cast<int64_t>(bytes.size()),
                static_cast<int64_t>(stored.size()));
    if (!is_file) insert.BindBlob(4, stored);
    return insert.Run();
  }));
  return digest;
}

absl::StatusOr<std::string> SqliteStore::GetBlob(absl::string_view digest) {
  int64_t size = 0;
  int64_t stored_size = 0;
  std::optional<std::string> stored;
  {
    const sqlite::ReaderPool::Lease reader = readers_->Borrow();
    HONE_ASSIGN_OR_RETURN(
        Statement query,
        reader->Prepare(
            "SELECT size, stored_size, data FROM blob WHERE digest = ?1"));
    HONE_ASSIGN_OR_RETURN(const bool found, query.Bind(digest).Step());
    if (!found) return NoSuchBlob(digest);
    size = query.Int(0);
    stored_size = query.Int(1);
    if (!query.IsNull(2)) stored = query.Text(2);
  }
  if (!stored) {
    absl::StatusOr<std::string> file = blob_files_->Read(digest, stored_size);
    if (absl::IsNotFound(file.status())) {
      return CountCorrupt(absl::DataLossError(
          absl::StrCat("the file of blob ", digest, " is missing")));
    }
    if (!file.ok()) return CountCorrupt(file.status());
    stored = *std::move(file);
  }
  absl::StatusOr<std::string> bytes = Decompress(digest, size, *stored);
  if (!bytes.ok()) return CountCorrupt(bytes.status());
  return bytes;
}

absl::StatusOr<bool> SqliteStore::HasBlob(absl::string_view digest) {
  const sqlite::ReaderPool::Lease reader = readers_->Borrow();
  HONE_ASSIGN_OR_RETURN(
      Statement query, reader->Prepare("SELECT 1 FROM blob WHERE digest = ?1"));
  return query.Bind(digest).Step();
}

absl::StatusOr<StoreStats> SqliteStore::Stats() {
  const sqlite::ReaderPool::Lease reader = readers_->Borrow();
  HONE_ASSIGN_OR_RETURN(
      Statement query,
      reader->Prepare(
          "SELECT (SELECT COUNT(*) FROM record),"
          " (SELECT COUNT(*) FROM tuning), (SELECT SUM(trials) FROM tuning),"
          " (SELECT COUNT(*) FROM blob),"
          " (SELECT SUM(stored_size) FROM blob WHERE data IS NULL)"));
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
  return stats;
}

}  // namespace hone::storage
