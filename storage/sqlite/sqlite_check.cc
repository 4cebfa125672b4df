// The part of SqliteStore that looks for corruption.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "base/status_macros.h"
#include "storage/sqlite/database.h"
#include "storage/sqlite/descending_scan.h"
#include "storage/sqlite/reader_pool.h"
#include "storage/sqlite/rows.h"
#include "storage/sqlite/sqlite_store.h"

namespace hone::storage {
namespace {

using sqlite::Row;
using sqlite::Statement;

// Bounds of one step.
constexpr int64_t kMaxRows = 2000;
constexpr int64_t kMaxTrials = 20'000;
// Larger candidates count as several trials.
constexpr int64_t kTrialChoices = 1000;
constexpr int64_t kMaxBlobBytes = 64 << 20;

constexpr int64_t kTop = std::numeric_limits<int64_t>::max();

std::string Token(absl::string_view table, int64_t position) {
  return absl::StrCat(table, ":", position);
}

// Corrupt text is not always UTF-8, as a message has to be.
std::string Printable(std::string text) {
  const bool is_printable =
      std::all_of(text.begin(), text.end(),
                  [](unsigned char c) { return absl::ascii_isprint(c); });
  return is_printable ? text : absl::CEscape(text);
}

void AddCorrupt(CheckPage& page, absl::string_view table, std::string key,
                absl::string_view what) {
  page.corrupt.push_back({std::string(table), Printable(std::move(key)),
                          Printable(std::string(what))});
}

// The digest of the record's key, by which it can be deleted, or its place if
// that is damaged, too.
std::string RecordName(const Statement& query, int64_t sequence) {
  const std::string digest = query.Text(1);
  const bool is_digest =
      digest.size() == 64 &&
      std::all_of(digest.begin(), digest.end(),
                  [](unsigned char c) { return absl::ascii_isxdigit(c); });
  return is_digest ? digest : absl::StrCat(sequence);
}

// Adds the rows that the scan has skipped, if any.
void AddSkipped(const sqlite::DescendingScan& scan, int64_t above,
                absl::string_view table, CheckPage& page) {
  if (scan.skipped().ok()) return;
  AddCorrupt(page, table,
             above == kTop ? absl::StrCat("rows above ", scan.position())
                           : absl::StrCat("rows between ", scan.position(),
                                          " and ", above),
             scan.skipped().message());
}

// Reads the rows of `table` with `query` below `position`. `examine` gets each;
// returns its error, and adds its cost to the step's.
template <typename Examine>
absl::Status Walk(Statement& query, int64_t position, absl::string_view table,
                  absl::string_view next_token, CheckPage& page,
                  Examine examine) {
  query.Bind(position - 1);
  sqlite::DescendingScan scan(query, position);
  page.next_page_token = std::string(next_token);
  while (true) {
    const int64_t above = scan.position();
    const absl::StatusOr<bool> found = scan.Next();
    if (absl::IsDataLoss(found.status())) {
      AddCorrupt(page, table, absl::StrCat("rows below ", above),
                 found.status().message());
      return absl::OkStatus();
    }
    if (!found.ok()) return found.status();
    AddSkipped(scan, above, table, page);
    if (!*found) return absl::OkStatus();
    ++page.checked;
    const bool is_enough = examine(scan.position());
    if (is_enough || page.checked >= kMaxRows) {
      page.next_page_token = Token(table, scan.position());
      return absl::OkStatus();
    }
  }
}

}  // namespace

absl::StatusOr<CheckPage> SqliteStore::Check(absl::string_view page_token) {
  if (page_token.empty()) return CheckRecords(kTop);
  const std::vector<absl::string_view> parts = absl::StrSplit(page_token, ':');
  int64_t position = 0;
  if (parts.size() == 2 && absl::SimpleAtoi(parts[1], &position)) {
    if (parts[0] == "record") return CheckRecords(position);
    if (parts[0] == "tuning") return CheckTunings(position);
    if (parts[0] == "blob") return CheckBlobs(position);
    if (parts[0] == "database") return CheckStructure();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "page token '", page_token, "', expected one that a check returned"));
}

absl::StatusOr<CheckPage> SqliteStore::CheckRecords(int64_t position) {
  const sqlite::ReaderPool::Lease reader = readers_->Borrow();
  HONE_ASSIGN_OR_RETURN(
      Statement query,
      reader->Prepare("SELECT " HONE_RECORD_COLUMNS
                      ", tuned_module_digest = '' OR EXISTS (SELECT 1 FROM blob"
                      "  WHERE digest = tuned_module_digest)"
                      // By the index that lookups use, which has no checksum.
                      ", sequence = (SELECT r.sequence FROM record AS r"
                      "  INDEXED BY sqlite_autoindex_record_1"
                      "  WHERE r.key_digest = record.key_digest)"
                      " FROM record WHERE sequence <= ?1"
                      " ORDER BY sequence DESC"));
  constexpr int kHasBlob = sqlite::kRecordColumns;
  constexpr int kIsIndexed = kHasBlob + 1;
  CheckPage page;
  HONE_RETURN_IF_ERROR(Walk(
      query, position, "record", Token("tuning", kTop), page,
      [&](int64_t sequence) {
        const absl::StatusOr<Row<Record>> row = sqlite::ReadRecord(query);
        if (!row.ok()) {
          AddCorrupt(page, "record", RecordName(query, sequence),
                     row.status().message());
          return false;
        }
        if (query.Int(kHasBlob) == 0) {
          query.CountCorruptRow();
          AddCorrupt(page, "record", RecordName(query, sequence),
                     absl::StrCat("its module ", row->value.tuned_module_digest,
                                  " is missing"));
        } else if (query.Int(kIsIndexed) == 0) {
          query.CountCorruptRow();
          AddCorrupt(page, "record", RecordName(query, sequence),
                     "lookups do not find it: the index is damaged");
        }
        return false;
      }));
  return page;
}

absl::StatusOr<CheckPage> SqliteStore::CheckTunings(int64_t position) {
  const sqlite::ReaderPool::Lease reader = readers_->Borrow();
  HONE_ASSIGN_OR_RETURN(Statement query,
                        reader->Prepare("SELECT " HONE_TUNING_COLUMNS
                                        " FROM tuning WHERE sequence <= ?1"
                                        " ORDER BY sequence DESC"));
  CheckPage page;
  int64_t trials = 0;
  HONE_RETURN_IF_ERROR(Walk(
      query, position, "tuning", Token("blob", kTop), page,
      [&](int64_t sequence) {
        const absl::StatusOr<Row<Tuning>> row = sqlite::ReadTuning(query);
        if (!row.ok()) {
          AddCorrupt(page, "tuning", absl::StrCat(sequence),
                     row.status().message());
          return false;
        }
        int64_t choices = 0;
        const absl::Status log =
            sqlite::ReadTrials(*reader, *row, [&](const space::Trial& trial) {
              choices += static_cast<int64_t>(trial.candidate.choices.size());
            });
        if (!log.ok()) {
          AddCorrupt(page, "trial", absl::StrCat("of ", row->value.id),
                     log.message());
        }
        trials += std::max(row->value.trials, choices / kTrialChoices);
        return trials >= kMaxTrials;
      }));
  return page;
}

absl::StatusOr<CheckPage> SqliteStore::CheckBlobs(int64_t position) {
  const sqlite::ReaderPool::Lease reader = readers_->Borrow();
  HONE_ASSIGN_OR_RETURN(
      Statement query,
      reader->Prepare("SELECT rowid, digest, size FROM blob WHERE rowid <= ?1"
                      " ORDER BY rowid DESC"));
  CheckPage page;
  int64_t bytes = 0;
  HONE_RETURN_IF_ERROR(Walk(
      query, position, "blob", Token("database", kTop), page, [&](int64_t) {
        const std::string digest = query.Text(1);
        absl::StatusOr<StoredBlob> stored = FindBlob(*reader, digest);
        // The row is there: the index is damaged.
        if (absl::IsNotFound(stored.status())) query.CountCorruptRow();
        const absl::Status status =
            stored.ok() ? ReadBlob(digest, *std::move(stored)).status()
                        : stored.status();
        if (!status.ok()) {
          AddCorrupt(page, "blob", digest, status.message());
        }
        bytes += query.Int(2);
        return bytes >= kMaxBlobBytes;
      }));
  return page;
}

absl::StatusOr<CheckPage> SqliteStore::CheckStructure() {
  const sqlite::ReaderPool::Lease reader = readers_->Borrow();
  CheckPage page;
  const absl::Status status = reader->QuickCheck(quick_check_limit_);
  if (!status.ok()) {
    AddCorrupt(page, "database", "", status.message());
  }
  return page;
}

}  // namespace hone::storage
