// The part of SqliteStore that is about blobs.
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include <zstd.h>

#include "base/hash.h"
#include "base/status_macros.h"
#include "storage/contract.h"
#include "storage/sqlite/blob_files.h"
#include "storage/sqlite/compression.h"
#include "storage/sqlite/database.h"
#include "storage/sqlite/reader_pool.h"
#include "storage/sqlite/sqlite_store.h"
#include "storage/sqlite/use_log.h"
#include "storage/sqlite/writer.h"

namespace hone::storage {
namespace {

using sqlite::Database;
using sqlite::Statement;

// Compressed bytes over which a blob is a file.
constexpr size_t kMaxInlineBytes = 100 << 10;
// Guards against allocating what a corrupt size says.
constexpr size_t kMaxBlobBytes = size_t{4} << 30;

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

absl::StatusOr<std::string> SqliteStore::PutBlob(absl::string_view bytes) {
  if (bytes.size() > kMaxBlobBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "blob of ", bytes.size(), " bytes, expected at most ", kMaxBlobBytes));
  }
  std::string digest = Sha256Hex(bytes);
  HONE_RETURN_IF_ERROR(damage_);
  sqlite::UseLog::Pin pin(*uses_, digest);
  const absl::Status present = GetBlob(digest).status();
  if (present.ok()) return digest;
  // A corrupt blob is written anew.
  if (!absl::IsNotFound(present) && !absl::IsDataLoss(present)) return present;

  HONE_ASSIGN_OR_RETURN(const std::string stored, Compress(bytes));
  const bool is_file = stored.size() > kMaxInlineBytes;
  if (is_file) {
    const absl::Status written = blob_files_->Write(digest, stored);
    if (absl::IsResourceExhausted(written)) writer_->NoteFullDisk(written);
    HONE_RETURN_IF_ERROR(written);
  }
  const auto insert_row = [&](Database& database) -> absl::Status {
    // Not REPLACE, which fires no triggers for what it deletes.
    HONE_ASSIGN_OR_RETURN(
        Statement remove,
        database.Prepare("DELETE FROM blob WHERE digest = ?1"));
    HONE_RETURN_IF_ERROR(remove.Bind(digest).Run());
    HONE_ASSIGN_OR_RETURN(
        Statement insert,
        database.Prepare("INSERT INTO blob (digest, size, stored_size, data) "
                         "VALUES (?1, ?2, ?3, ?4)"));
    insert.Bind(digest, static_cast<int64_t>(bytes.size()),
                static_cast<int64_t>(stored.size()));
    if (!is_file) insert.BindBlob(4, stored);
    HONE_RETURN_IF_ERROR(insert.Run());
    HONE_ASSIGN_OR_RETURN(
        Statement use,
        database.Prepare("INSERT INTO blob_use (digest, used_ns)"
                         " VALUES (?1, ?2) ON CONFLICT (digest)"
                         " DO UPDATE SET used_ns = excluded.used_ns"));
    return use.Bind(digest, absl::ToUnixNanos(clock_.Now())).Run();
  };
  HONE_RETURN_IF_ERROR(Write(insert_row));
  pin.NoteUse();
  return digest;
}

absl::StatusOr<std::string> SqliteStore::GetBlob(absl::string_view digest) {
  sqlite::UseLog::Pin pin(*uses_, digest);
  absl::StatusOr<StoredBlob> stored;
  {
    const sqlite::ReaderPool::Lease reader = readers_->Borrow();
    stored = FindBlob(*reader, digest);
  }
  HONE_RETURN_IF_ERROR(stored.status());
  pin.NoteUse();
  return ReadBlob(digest, *std::move(stored));
}

absl::StatusOr<SqliteStore::StoredBlob> SqliteStore::FindBlob(
    Database& reader, absl::string_view digest) {
  HONE_ASSIGN_OR_RETURN(
      Statement query,
      reader.Prepare(
          "SELECT size, stored_size, data FROM blob WHERE digest = ?1"));
  HONE_ASSIGN_OR_RETURN(const bool found, query.Bind(digest).Step());
  if (!found) return NoSuchBlob(digest);
  StoredBlob stored{query.Int(0), query.Int(1), std::nullopt};
  if (!query.IsNull(2)) stored.data = query.Text(2);
  return stored;
}

absl::StatusOr<std::string> SqliteStore::ReadBlob(absl::string_view digest,
                                                  StoredBlob stored) {
  if (!stored.data) {
    absl::StatusOr<std::string> file =
        blob_files_->Read(digest, stored.stored_size);
    if (absl::IsNotFound(file.status())) {
      return CountCorrupt(absl::DataLossError(
          absl::StrCat("the file of blob ", digest, " is missing")));
    }
    if (!file.ok()) return CountCorrupt(file.status());
    stored.data = *std::move(file);
  }
  absl::StatusOr<std::string> bytes =
      Decompress(digest, stored.size, *stored.data);
  if (!bytes.ok()) return CountCorrupt(bytes.status());
  return bytes;
}

absl::StatusOr<bool> SqliteStore::HasBlob(absl::string_view digest) {
  sqlite::UseLog::Pin pin(*uses_, digest);
  HONE_ASSIGN_OR_RETURN(const bool found, HasBlobRow(digest));
  if (found) pin.NoteUse();
  return found;
}

absl::StatusOr<bool> SqliteStore::HasBlobRow(absl::string_view digest) {
  const sqlite::ReaderPool::Lease reader = readers_->Borrow();
  HONE_ASSIGN_OR_RETURN(
      Statement query, reader->Prepare("SELECT 1 FROM blob WHERE digest = ?1"));
  return query.Bind(digest).Step();
}

}  // namespace hone::storage
