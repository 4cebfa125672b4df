// The part of SqliteStore that is about published records: the cache.
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "storage/contract.h"
#include "storage/page_token.h"
#include "storage/sqlite/database.h"
#include "storage/sqlite/listing.h"
#include "storage/sqlite/reader_pool.h"
#include "storage/sqlite/rows.h"
#include "storage/sqlite/sqlite_store.h"
#include "storage/sqlite/use_log.h"

namespace hone::storage {
namespace {

using sqlite::Database;
using sqlite::Row;
using sqlite::Statement;

// Errors: NotFound; DataLoss if the row is corrupt.
absl::StatusOr<Record> FindRecord(Database& database,
                                  absl::string_view key_digest) {
  HONE_ASSIGN_OR_RETURN(Statement query,
                        database.Prepare("SELECT " HONE_RECORD_COLUMNS
                                         " FROM record WHERE key_digest = ?1"));
  HONE_ASSIGN_OR_RETURN(const bool found, query.Bind(key_digest).Step());
  if (!found) return NoRecordOfDigest(key_digest);
  HONE_ASSIGN_OR_RETURN(Row<Record> row, sqlite::ReadRecord(query));
  // A damaged index leads to another row.
  if (row.value.key.Digest() != key_digest) return query.CorruptRow("record");
  return std::move(row.value);
}

absl::StatusOr<Record> FindRecord(Database& database, const CacheKey& key) {
  absl::StatusOr<Record> record = FindRecord(database, key.Digest());
  return absl::IsNotFound(record.status()) ? NoSuchRecord(key) : record;
}

// A miss reads a bounded number of rows, whatever the store holds: of the
// records of the module and of the contexts, the newest ones, and of each
// context its newest record, or one of those before it if that is corrupt.
constexpr absl::string_view kNearestOfModule =
    "SELECT " HONE_RECORD_COLUMNS
    " FROM (SELECT * FROM record WHERE module_fingerprint = ?1"
    "   ORDER BY sequence DESC LIMIT 256)"
    " ORDER BY (target = ?2) + (task = ?3) + (task_options = ?4)"
    " + (space_version = ?5) DESC, sequence DESC";
constexpr absl::string_view kNearestContexts =
    "SELECT id FROM (SELECT * FROM context WHERE newest > 0"
    "   ORDER BY newest DESC LIMIT 1024)"
    " ORDER BY (target = ?1) + (task = ?2) + (task_options = ?3)"
    " + (space_version = ?4) DESC, newest DESC LIMIT 8";
constexpr absl::string_view kNewestOfContext =
    "SELECT " HONE_RECORD_COLUMNS
    " FROM record WHERE context = ?1 ORDER BY sequence DESC LIMIT 16";

absl::StatusOr<std::optional<Row<Record>>> NearestOfAnyModule(
    Database& database, const CacheKey& key) {
  HONE_ASSIGN_OR_RETURN(Statement contexts, database.Prepare(kNearestContexts));
  contexts.Bind(key.target, key.task, key.task_options, key.space_version);
  while (true) {
    HONE_ASSIGN_OR_RETURN(const bool found, contexts.Step());
    if (!found) return std::nullopt;
    HONE_ASSIGN_OR_RETURN(Statement records,
                          database.Prepare(kNewestOfContext));
    records.Bind(contexts.Int(0));
    HONE_ASSIGN_OR_RETURN(
        std::optional<Row<Record>> row,
        sqlite::FirstIntact<Record>(records, sqlite::ReadRecord));
    if (row) return row;
  }
}

// Returns the FROM and WHERE of a query for the records that match. The most
// selective index that the filter can use is chosen here: the query's
// parameters tell SQLite nothing about it.
std::string MatchingRecords(const RecordFilter& filter) {
  // In the order of its rows, so that a listing goes on below an unreadable
  // page: an index would have to be read and sorted as a whole first.
  absl::string_view from = " FROM record NOT INDEXED";
  if (!filter.measured_by.empty()) {
    from = " FROM measurement CROSS JOIN record ON sequence = record";
  } else if (filter.created_after > absl::InfinitePast() ||
             filter.created_before < absl::InfiniteFuture()) {
    from = " FROM record INDEXED BY record_by_creation";
  }
  return absl::StrCat(from,
                      " WHERE sequence <= ?1"
                      " AND (?2 = '' OR module_fingerprint = ?2)"
                      " AND (?3 = '' OR target = ?3)"
                      " AND (?4 = '' OR task = ?4)"
                      " AND (?5 = '' OR producer = ?5)"
                      " AND created_ns >= ?6 AND created_ns < ?7",
                      filter.measured_by.empty()
                          ? " AND ?8 = ''"
                          : " AND machine = ?8 AND record <= ?1");
}

// Times beyond what a column can hold are its ends.
void BindFilter(Statement& query, int64_t last, const RecordFilter& filter,
                int64_t limit) {
  query.Bind(last, filter.module_fingerprint, filter.target, filter.task,
             filter.producer, absl::ToUnixNanos(filter.created_after),
             absl::ToUnixNanos(filter.created_before), filter.measured_by,
             limit);
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
    return sqlite::InsertRecord(database, record, clock_.Now());
  };
  HONE_RETURN_IF_ERROR(Write(publish, /*is_state=*/true));
  return published;
}

absl::StatusOr<Record> SqliteStore::Lookup(const CacheKey& key) {
  absl::StatusOr<Record> record = FindRecord(*readers_->Borrow(), key);
  if (record.ok()) uses_->NoteRecord(key);
  return record;
}

absl::StatusOr<Record> SqliteStore::GetRecord(absl::string_view key_digest) {
  return FindRecord(*readers_->Borrow(), key_digest);
}

absl::Status SqliteStore::DeleteRecord(absl::string_view key_digest) {
  const auto remove = [&](Database& database) -> absl::Status {
    HONE_ASSIGN_OR_RETURN(
        Statement statement,
        database.Prepare("DELETE FROM record WHERE key_digest = ?1"));
    HONE_RETURN_IF_ERROR(statement.Bind(key_digest).Run());
    return database.changes() > 0 ? absl::OkStatus()
                                  : NoRecordOfDigest(key_digest);
  };
  return Write(remove, /*is_state=*/true);
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
      reader->Prepare(absl::StrCat("SELECT " HONE_RECORD_COLUMNS,
                                   MatchingRecords(filter),
                                   " ORDER BY sequence DESC LIMIT ?9")));
  BindFilter(query, request.before - 1, filter, request.size + 1);
  return sqlite::ReadPage<Record>(query, listing, request, sqlite::ReadRecord);
}

absl::StatusOr<int64_t> SqliteStore::Invalidate(const RecordFilter& filter) {
  int64_t removed = 0;
  const auto remove = [&](Database& database) -> absl::Status {
    HONE_ASSIGN_OR_RETURN(
        Statement statement,
        database.Prepare(absl::StrCat("DELETE FROM record WHERE sequence IN "
                                      "(SELECT sequence",
                                      MatchingRecords(filter), " LIMIT ?9)")));
    constexpr int64_t kAll = std::numeric_limits<int64_t>::max();
    BindFilter(statement, kAll, filter, kAll);
    HONE_RETURN_IF_ERROR(statement.Run());
    removed = database.changes();
    return absl::OkStatus();
  };
  HONE_RETURN_IF_ERROR(Write(remove, /*is_state=*/true));
  return removed;
}

absl::StatusOr<std::optional<Record>> SqliteStore::FindNearest(
    const CacheKey& key) {
  const sqlite::ReaderPool::Lease reader = readers_->Borrow();
  HONE_ASSIGN_OR_RETURN(Statement query, reader->Prepare(kNearestOfModule));
  query.Bind(key.module_fingerprint, key.target, key.task, key.task_options,
             key.space_version);
  HONE_ASSIGN_OR_RETURN(std::optional<Row<Record>> nearest,
                        sqlite::FirstIntact<Record>(query, sqlite::ReadRecord));
  HONE_ASSIGN_OR_RETURN(std::optional<Row<Record>> other,
                        NearestOfAnyModule(*reader, key));
  const auto rank = [&](const Row<Record>& row) {
    return std::pair(SharedComponents(row.value.key, key), row.sequence);
  };
  if (other && (!nearest || rank(*other) > rank(*nearest))) {
    nearest = std::move(other);
  }
  if (!nearest) return std::nullopt;
  return std::move(nearest->value);
}

}  // namespace hone::storage
