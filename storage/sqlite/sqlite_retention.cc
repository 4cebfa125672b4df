// The part of SqliteStore that removes what is old, too much or unused.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "storage/sqlite/blob_files.h"
#include "storage/sqlite/database.h"
#include "storage/sqlite/reader_pool.h"
#include "storage/sqlite/rows.h"
#include "storage/sqlite/sqlite_store.h"
#include "storage/sqlite/use_log.h"

namespace hone::storage {
namespace {

using sqlite::Database;
using sqlite::Row;
using sqlite::Statement;

// Bounds of one step.
constexpr size_t kMaxRows = 64;
constexpr int64_t kMaxTrials = 20'000;
constexpr size_t kMaxUses = 1000;
constexpr int64_t kMaxBlobs = 1024;

// A use is stored if the stored one is older than this.
constexpr absl::Duration kUseResolution = absl::Hours(1);
// What nothing refers to yet may be part of an upload.
constexpr absl::Duration kUnusedBlobAge = absl::Hours(24);
// What was just referred to is in no upload; a request that is being answered
// may have seen it.
constexpr absl::Duration kReleasedBlobAge = absl::Minutes(10);

// The rows that a step removes.
struct Removed {
  std::vector<CacheKey> keys;
  int64_t rows = 0;
  int64_t tunings = 0;
  int64_t trials = 0;
  std::vector<std::string> blobs;

  bool is_full() const {
    return rows >= static_cast<int64_t>(kMaxRows) || trials >= kMaxTrials;
  }
};

// The blobs that a step may remove; released at its end.
class Condemned {
 public:
  explicit Condemned(sqlite::UseLog& uses) : uses_(uses) {}
  ~Condemned() { uses_.Release(digests_); }
  Condemned(const Condemned&) = delete;
  Condemned& operator=(const Condemned&) = delete;

  // Returns false if the blob is in use.
  bool Add(const std::string& digest) {
    if (!uses_.Condemn(digest)) return false;
    digests_.push_back(digest);
    return true;
  }

 private:
  sqlite::UseLog& uses_;
  std::vector<std::string> digests_;
};

// The row that was used longest ago, of two tables.
constexpr absl::string_view kOldestRecord =
    "SELECT " HONE_RECORD_COLUMNS
    ", used_ns FROM record WHERE used_ns < ?1 ORDER BY used_ns LIMIT 1";
constexpr int kRecordDigestColumn = 12;
constexpr int kRecordUsedColumn = 24;
constexpr absl::string_view kOldestTuning =
    "SELECT sequence, trials, module_digest, updated_ns FROM tuning"
    " WHERE state IN ('succeeded', 'failed', 'cancelled') AND updated_ns < ?1"
    " ORDER BY updated_ns LIMIT 1";

// Removes the record or finished tuning that was used longest ago, before
// `cutoff`, and sets `blob` to the digest that it refers to. Returns false if
// there is none.
absl::StatusOr<bool> RemoveOldest(Database& database, absl::Time cutoff,
                                  Removed& removed, std::string& blob) {
  HONE_ASSIGN_OR_RETURN(Statement record, database.Prepare(kOldestRecord));
  HONE_ASSIGN_OR_RETURN(const bool has_record,
                        record.Bind(absl::ToUnixNanos(cutoff)).Step());
  HONE_ASSIGN_OR_RETURN(Statement tuning, database.Prepare(kOldestTuning));
  HONE_ASSIGN_OR_RETURN(const bool has_tuning,
                        tuning.Bind(absl::ToUnixNanos(cutoff)).Step());
  if (!has_record && !has_tuning) return false;
  ++removed.rows;
  if (has_record &&
      (!has_tuning || record.Int(kRecordUsedColumn) <= tuning.Int(3))) {
    blob = record.Text(kRecordDigestColumn);
    absl::StatusOr<Row<Record>> row = sqlite::ReadRecord(record);
    // Nobody can have the key of a corrupt one.
    if (row.ok()) removed.keys.push_back(std::move(row->value.key));
    HONE_ASSIGN_OR_RETURN(
        Statement statement,
        database.Prepare("DELETE FROM record WHERE sequence = ?1"));
    HONE_RETURN_IF_ERROR(statement.Bind(record.Int(0)).Run());
    return true;
  }
  ++removed.tunings;
  removed.trials += tuning.Int(1);
  blob = tuning.Text(2);
  HONE_ASSIGN_OR_RETURN(
      Statement statement,
      database.Prepare("DELETE FROM tuning WHERE sequence = ?1"));
  HONE_RETURN_IF_ERROR(statement.Bind(tuning.Int(0)).Run());
  return true;
}

// Returns the bytes of content, without free pages and the log.
absl::StatusOr<int64_t> ContentBytes(Database& database) {
  HONE_ASSIGN_OR_RETURN(const int64_t pages,
                        database.QueryInt("PRAGMA page_count"));
  HONE_ASSIGN_OR_RETURN(const int64_t free,
                        database.QueryInt("PRAGMA freelist_count"));
  HONE_ASSIGN_OR_RETURN(const int64_t page_size,
                        database.QueryInt("PRAGMA page_size"));
  HONE_ASSIGN_OR_RETURN(
      const int64_t files,
      database.QueryInt("SELECT file_bytes FROM total WHERE id = 1"));
  return (pages - free) * page_size + files;
}

// Deletes the row of a blob that nothing refers to and nobody has used since.
// Returns false if there is none.
absl::StatusOr<bool> DeleteUnused(Database& database, absl::string_view digest,
                                  absl::Time since) {
  HONE_ASSIGN_OR_RETURN(
      Statement statement,
      database.Prepare(
          "DELETE FROM blob WHERE digest = ?1 AND NOT EXISTS"
          " (SELECT 1 FROM blob_use WHERE digest = ?1 AND used_ns >= ?2)"
          " AND NOT EXISTS (SELECT 1 FROM tuning WHERE module_digest = ?1)"
          " AND NOT EXISTS (SELECT 1 FROM record"
          "  WHERE tuned_module_digest = ?1 AND tuned_module_digest <> '')"));
  HONE_RETURN_IF_ERROR(statement.Bind(digest, absl::ToUnixNanos(since)).Run());
  return database.changes() > 0;
}

}  // namespace

absl::StatusOr<SweepResult> SqliteStore::Sweep(const RetentionPolicy& policy) {
  if (!maintenance_mu_.TryLock()) return SweepResult();
  absl::StatusOr<SweepResult> result = SweepLocked(policy);
  maintenance_mu_.Unlock();
  return result;
}

absl::StatusOr<SweepResult> SqliteStore::SweepLocked(
    const RetentionPolicy& policy) {
  SweepResult result;
  if (!Health().ok()) {
    // A change, to see whether it can be stored now.
    const auto probe = [](Database& database) -> absl::Status {
      HONE_ASSIGN_OR_RETURN(
          Statement update,
          database.Prepare("UPDATE total SET records = records"));
      return update.Run();
    };
    HONE_RETURN_IF_ERROR(Write(probe));
  }
  HONE_RETURN_IF_ERROR(StoreUses());
  const absl::Time now = clock_.Now();
  if (policy.max_age != absl::InfiniteDuration()) {
    HONE_RETURN_IF_ERROR(
        RemoveOld(now - policy.max_age, 0, result.expired, result));
  }
  if (policy.max_bytes > 0) {
    HONE_RETURN_IF_ERROR(
        RemoveOld(now, policy.max_bytes, result.evicted, result));
  }
  HONE_RETURN_IF_ERROR(CollectBlobs(result));
  HONE_RETURN_IF_ERROR(CollectFiles());
  return result;
}

absl::Status SqliteStore::RemoveOld(absl::Time cutoff, int64_t max_bytes,
                                    std::vector<CacheKey>& keys,
                                    SweepResult& result) {
  const absl::Time unused_since = clock_.Now() - kReleasedBlobAge;
  Removed removed;
  Condemned condemned(*uses_);
  bool freed = false;
  const auto remove = [&](Database& database) -> absl::Status {
    removed = {};
    HONE_ASSIGN_OR_RETURN(const int64_t before, ContentBytes(database));
    int64_t bytes = before;
    while (!removed.is_full() && (max_bytes == 0 || bytes > max_bytes)) {
      std::string blob;
      HONE_ASSIGN_OR_RETURN(const bool found,
                            RemoveOldest(database, cutoff, removed, blob));
      if (!found) break;
      if (condemned.Add(blob)) {
        HONE_ASSIGN_OR_RETURN(const bool unused,
                              DeleteUnused(database, blob, unused_since));
        if (unused) removed.blobs.push_back(blob);
      }
      HONE_ASSIGN_OR_RETURN(bytes, ContentBytes(database));
    }
    freed = bytes < before;
    return absl::OkStatus();
  };
  HONE_RETURN_IF_ERROR(Write(remove, /*is_state=*/true));
  for (const std::string& digest : removed.blobs) blob_files_->Remove(digest);
  result.tunings += removed.tunings;
  result.blobs += static_cast<int64_t>(removed.blobs.size());
  keys = std::move(removed.keys);
  // If the store gets no smaller, the space is in what cannot go yet: the rest
  // stays until the next round.
  result.more |= removed.is_full() && (max_bytes == 0 || freed);
  return absl::OkStatus();
}

absl::Status SqliteStore::StoreUses() {
  const int64_t now = absl::ToUnixNanos(clock_.Now());
  const int64_t old = now - absl::ToInt64Nanoseconds(kUseResolution);
  const auto store = [&](absl::string_view sql, auto begin, auto end) {
    return Write(
        [&, sql, begin, end](Database& database) -> absl::Status {
          for (auto digest = begin; digest != end; ++digest) {
            HONE_ASSIGN_OR_RETURN(Statement update, database.Prepare(sql));
            HONE_RETURN_IF_ERROR(update.Bind(*digest, now, old).Run());
          }
          return absl::OkStatus();
        },
        /*is_state=*/true);
  };
  const auto store_all = [&](absl::string_view sql,
                             const std::vector<std::string>& digests) {
    for (size_t first = 0; first < digests.size(); first += kMaxUses) {
      const auto begin = digests.begin() + static_cast<std::ptrdiff_t>(first);
      const auto end = digests.begin() + static_cast<std::ptrdiff_t>(std::min(
                                             digests.size(), first + kMaxUses));
      HONE_RETURN_IF_ERROR(store(sql, begin, end));
    }
    return absl::OkStatus();
  };
  std::vector<std::string> records;
  for (const CacheKey& key : uses_->TakeRecords()) {
    records.push_back(key.Digest());
  }
  HONE_RETURN_IF_ERROR(
      store_all("UPDATE record SET used_ns = ?2"
                " WHERE key_digest = ?1 AND used_ns < ?3",
                records));
  const std::vector<std::string> blobs = uses_->Blobs();
  HONE_RETURN_IF_ERROR(
      store_all("UPDATE blob_use SET used_ns = ?2"
                " WHERE digest = ?1 AND used_ns < ?3",
                blobs));
  uses_->ForgetBlobs(blobs);
  return absl::OkStatus();
}

absl::Status SqliteStore::CollectBlobs(SweepResult& result) {
  const absl::Time since = clock_.Now() - kUnusedBlobAge;
  std::vector<std::string> unused;
  {
    const sqlite::ReaderPool::Lease reader = readers_->Borrow();
    HONE_ASSIGN_OR_RETURN(
        Statement query,
        reader->Prepare(
            "SELECT digest, used_ns < ?2"
            " AND NOT EXISTS (SELECT 1 FROM tuning"
            "  WHERE module_digest = blob_use.digest)"
            " AND NOT EXISTS (SELECT 1 FROM record"
            "  WHERE tuned_module_digest = blob_use.digest"
            "   AND tuned_module_digest <> '')"
            " FROM blob_use WHERE digest > ?1 ORDER BY digest LIMIT ?3"));
    query.Bind(absl::string_view(blob_cursor_), absl::ToUnixNanos(since),
               kMaxBlobs);
    blob_cursor_.clear();
    for (int64_t seen = 1;; ++seen) {
      HONE_ASSIGN_OR_RETURN(const bool found, query.Step());
      if (!found) break;
      if (query.Int(1) != 0) unused.push_back(query.Text(0));
      // At the end of the table the next step begins anew.
      if (seen == kMaxBlobs) blob_cursor_ = query.Text(0);
    }
  }
  if (unused.empty()) return absl::OkStatus();
  Condemned condemned(*uses_);
  std::vector<std::string> removed;
  const auto remove = [&](Database& database) -> absl::Status {
    removed.clear();
    for (const std::string& digest : unused) {
      if (!condemned.Add(digest)) continue;
      HONE_ASSIGN_OR_RETURN(const bool found,
                            DeleteUnused(database, digest, since));
      if (found) removed.push_back(digest);
    }
    return absl::OkStatus();
  };
  HONE_RETURN_IF_ERROR(Write(remove, /*is_state=*/true));
  for (const std::string& digest : removed) blob_files_->Remove(digest);
  result.blobs += static_cast<int64_t>(removed.size());
  return absl::OkStatus();
}

absl::Status SqliteStore::CollectFiles() {
  std::vector<std::string> orphans;
  {
    const sqlite::ReaderPool::Lease reader = readers_->Borrow();
    for (const std::string& digest :
         blob_files_->OldFiles(folder_cursor_, clock_.Now() - kUnusedBlobAge)) {
      HONE_ASSIGN_OR_RETURN(
          Statement query,
          reader->Prepare("SELECT 1 FROM blob WHERE digest = ?1"));
      HONE_ASSIGN_OR_RETURN(const bool found, query.Bind(digest).Step());
      if (!found) orphans.push_back(digest);
    }
  }
  folder_cursor_ = (folder_cursor_ + 1) % 256;
  Condemned condemned(*uses_);
  for (const std::string& digest : orphans) {
    if (!condemned.Add(digest)) continue;
    HONE_ASSIGN_OR_RETURN(const bool stored_meanwhile, HasBlobRow(digest));
    if (!stored_meanwhile) blob_files_->Remove(digest);
  }
  return absl::OkStatus();
}

}  // namespace hone::storage
