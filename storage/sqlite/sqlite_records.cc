// The part of SqliteStore that is about published records: the cache.
#include <utility>

#include "base/status_macros.h"
#include "storage/contract.h"
#include "storage/page_token.h"
#include "storage/sqlite/database.h"
#include "storage/sqlite/listing.h"
#include "storage/sqlite/reader_pool.h"
#include "storage/sqlite/rows.h"
#include "storage/sqlite/sqlite_store.h"
#include "storage/sqlite/writer.h"

namespace hone::storage {
namespace {

using sqlite::Database;
using sqlite::Row;
using sqlite::Statement;

// Errors: NotFound; DataLoss if the row is corrupt.
absl::StatusOr<Record> FindRecord(Database& database, const CacheKey& key) {
  HONE_ASSIGN_OR_RETURN(Statement query,
                        database.Prepare("SELECT " HONE_RECORD_COLUMNS
                                         " FROM record WHERE key_digest = ?1"));
  HONE_ASSIGN_OR_RETURN(const bool found, query.Bind(key.Digest()).Step());
  if (!found) return NoSuchRecord(key);
  HONE_ASSIGN_OR_RETURN(Row<Record> row, sqlite::ReadRecord(query));
  return std::move(row.value);
}

}  // namespace

absl::StatusOr<bool> SqliteStore::Publish(const Record& record) {
  bool published = false;
  const auto publish = [&](Database& database) -> absl::Status {
    published = false;
    if (!record.tuning_id.empty()) {
      HONE_ASSIGN_OR_RETURN(Row<Tuning> row,
                            sqlite::FindTuning(database, record.tuning_id));
      HONE_RETURN_IF_ERROR(MarkSucceeded(row.value));
      row.value.updated = clock_.Now();
      HONE_RETURN_IF_ERROR(sqlite::UpdateTuning(database, row));
    }
    const absl::StatusOr<Record> present = FindRecord(database, record.key);
    if (present.ok() && !Replaces(record, *present)) return absl::OkStatus();
    // A corrupt record is replaced.
    if (!present.ok() && !absl::IsNotFound(present.status()) &&
        !absl::IsDataLoss(present.status())) {
      return present.status();
    }
    published = true;
    return sqlite::InsertRecord(database, record);
  };
  HONE_RETURN_IF_ERROR(writer_->Run(publish));
  return published;
}

absl::StatusOr<Record> SqliteStore::Lookup(const CacheKey& key) {
  return FindRecord(*readers_->Borrow(), key);
}

absl::StatusOr<Page<Record>> SqliteStore::ListRecords(
    const RecordFilter& filter, int32_t page_size,
    absl::string_view page_token) {
  const std::string listing = RecordListing(filter);
  HONE_ASSIGN_OR_RETURN(const PageRequest request,
                        ParsePageRequest(listing, page_size, page_token));
  const sqlite::ReaderPool::Lease reader = readers_->Borrow();
  HONE_ASSIGN_OR_RETURN(
      Statement query,
      reader->Prepare("SELECT " HONE_RECORD_COLUMNS
                      " FROM record WHERE sequence < ?1"
                      " AND (?2 = '' OR module_fingerprint = ?2)"
                      " AND (?3 = '' OR target = ?3)"
                      " AND (?4 = '' OR task = ?4)"
                      " AND (?5 = '' OR producer = ?5)"
                      " ORDER BY sequence DESC LIMIT ?6"));
  query.Bind(request.before, filter.module_fingerprint, filter.target,
             filter.task, filter.producer, request.size + 1);
  return sqlite::ReadPage<Record>(query, listing, request, sqlite::ReadRecord);
}

absl::StatusOr<int64_t> SqliteStore::Invalidate(const RecordFilter& filter) {
  int64_t removed = 0;
  const absl::Status status =
      writer_->Run([&](Database& database) -> absl::Status {
        HONE_ASSIGN_OR_RETURN(
            Statement statement,
            database.Prepare("DELETE FROM record"
                             " WHERE (?1 = '' OR module_fingerprint = ?1)"
                             " AND (?2 = '' OR target = ?2)"
                             " AND (?3 = '' OR task = ?3)"
                             " AND (?4 = '' OR producer = ?4)"));
        statement.Bind(filter.module_fingerprint, filter.target, filter.task,
                       filter.producer);
        HONE_RETURN_IF_ERROR(statement.Run());
        removed = database.changes();
        return absl::OkStatus();
      });
  if (!status.ok()) return status;
  return removed;
}

absl::StatusOr<std::optional<Record>> SqliteStore::FindNearest(
    const CacheKey& key) {
  const sqlite::ReaderPool::Lease reader = readers_->Borrow();
  HONE_ASSIGN_OR_RETURN(
      Statement query,
      reader->Prepare("SELECT " HONE_RECORD_COLUMNS
                      " FROM record ORDER BY (module_fingerprint = ?1)"
                      " + (target = ?2) + (task = ?3) + (task_options = ?4)"
                      " + (space_version = ?5) DESC, sequence DESC"));
  query.Bind(key.module_fingerprint, key.target, key.task, key.task_options,
             key.space_version);
  return sqlite::FirstIntact<Record>(query, sqlite::ReadRecord);
}

}  // namespace hone::storage
