// The part of SqliteStore that is about tunings and their trials.
#include <algorithm>
#include <bit>
#include <optional>
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
#include "storage/trial_log.h"

namespace hone::storage {
namespace {

using sqlite::Database;
using sqlite::Row;
using sqlite::Statement;

// The unfinished tuning of the same key, optimizer and seed.
absl::StatusOr<std::optional<Tuning>> FindTwin(Database& database,
                                               const Tuning& wanted) {
  HONE_ASSIGN_OR_RETURN(Statement query,
                        database.Prepare("SELECT " HONE_TUNING_COLUMNS
                                         " FROM tuning WHERE key_digest = ?1"
                                         " AND state IN ('pending', 'running')"
                                         " AND optimizer = ?2 AND seed = ?3"));
  query.Bind(wanted.key.Digest(), wanted.optimizer,
             std::bit_cast<int64_t>(wanted.seed));
  HONE_ASSIGN_OR_RETURN(std::optional<Row<Tuning>> row,
                        sqlite::FirstIntact<Tuning>(query, sqlite::ReadTuning));
  // A damaged index leads to another row.
  if (!row || !IsUnfinishedTwin(row->value, wanted)) return std::nullopt;
  return std::move(row->value);
}

// Two statements, so that each has the index that serves it.
constexpr absl::string_view kListUnfinished =
    "SELECT " HONE_TUNING_COLUMNS
    " FROM tuning WHERE sequence <= ?1 AND state IN ('pending', 'running')"
    " AND instr(?2, ',' || state || ',') > 0 ORDER BY sequence DESC LIMIT ?3";
constexpr absl::string_view kListTunings =
    "SELECT " HONE_TUNING_COLUMNS
    " FROM tuning WHERE sequence <= ?1"
    " AND (?2 = '' OR instr(?2, ',' || state || ',') > 0)"
    " ORDER BY sequence DESC LIMIT ?3";

}  // namespace

absl::StatusOr<Tuning> SqliteStore::CreateTuning(const Tuning& tuning) {
  Tuning result;
  const auto create = [&](Database& database) -> absl::Status {
    HONE_ASSIGN_OR_RETURN(std::optional<Tuning> twin,
                          FindTwin(database, tuning));
    if (twin) {
      result = *std::move(twin);
      return absl::OkStatus();
    }
    HONE_ASSIGN_OR_RETURN(
        Statement query,
        database.Prepare("SELECT 1 FROM tuning WHERE id = ?1"));
    HONE_ASSIGN_OR_RETURN(const bool exists, query.Bind(tuning.id).Step());
    if (exists) return TuningExists(tuning.id);
    result = tuning;
    return sqlite::InsertTuning(database, tuning);
  };
  HONE_RETURN_IF_ERROR(Write(create));
  return result;
}

absl::StatusOr<Tuning> SqliteStore::GetTuning(absl::string_view id) {
  const sqlite::ReaderPool::Lease reader = readers_->Borrow();
  HONE_ASSIGN_OR_RETURN(Row<Tuning> row, sqlite::FindTuning(*reader, id));
  return std::move(row.value);
}

absl::Status SqliteStore::SetTuningState(absl::string_view id,
                                         TuningState state,
                                         absl::string_view error) {
  const auto set = [&](Database& database) -> absl::Status {
    HONE_ASSIGN_OR_RETURN(Row<Tuning> row, sqlite::FindTuning(database, id));
    if (IsTerminal(row.value.state)) return TuningEnded(row.value);
    row.value.state = state;
    row.value.error = std::string(error);
    row.value.updated = clock_.Now();
    return sqlite::UpdateTuning(database, row);
  };
  return Write(set, /*is_state=*/true);
}

absl::Status SqliteStore::SetTuningTarget(absl::string_view id,
                                          absl::string_view target) {
  return Write([&](Database& database) -> absl::Status {
    HONE_ASSIGN_OR_RETURN(Row<Tuning> row, sqlite::FindTuning(database, id));
    if (IsTerminal(row.value.state)) return TuningEnded(row.value);
    row.value.key.target = std::string(target);
    row.value.updated = clock_.Now();
    HONE_ASSIGN_OR_RETURN(
        Statement update,
        database.Prepare("UPDATE tuning SET target = ?2, key_digest = ?3 "
                         "WHERE sequence = ?1"));
    HONE_RETURN_IF_ERROR(
        update.Bind(row.sequence, target, row.value.key.Digest()).Run());
    return sqlite::UpdateTuning(database, row);
  });
}

absl::StatusOr<Page<Tuning>> SqliteStore::ListTunings(
    absl::Span<const TuningState> states, int32_t page_size,
    absl::string_view page_token) {
  const std::string listing = TuningListing(states);
  HONE_ASSIGN_OR_RETURN(const PageRequest request,
                        ParsePageRequest(listing, page_size, page_token));
  std::string wanted;  // ",pending,,running,"
  for (TuningState state : states) {
    absl::StrAppend(&wanted, ",", TuningStateName(state), ",");
  }
  const bool unfinished =
      !states.empty() && std::none_of(states.begin(), states.end(), IsTerminal);
  const sqlite::ReaderPool::Lease reader = readers_->Borrow();
  HONE_ASSIGN_OR_RETURN(
      Statement query,
      reader->Prepare(unfinished ? kListUnfinished : kListTunings));
  query.Bind(request.before - 1, wanted, request.size + 1);
  return sqlite::ReadPage<Tuning>(query, listing, request, sqlite::ReadTuning);
}

absl::Status SqliteStore::AppendTrials(absl::string_view tuning_id,
                                       absl::Span<const space::Trial> trials) {
  return Write([&](Database& database) -> absl::Status {
    HONE_ASSIGN_OR_RETURN(Row<Tuning> row,
                          sqlite::FindTuning(database, tuning_id));
    HONE_ASSIGN_OR_RETURN(const absl::Span<const space::Trial> added,
                          ExtendTrialLog(trials, row.value));
    if (!added.empty()) {
      HONE_ASSIGN_OR_RETURN(
          CandidateCoder coder,
          sqlite::ResumeCoder(database, row.sequence, added.front().id - 1));
      for (const space::Trial& trial : added) {
        HONE_RETURN_IF_ERROR(
            sqlite::InsertTrial(database, row.sequence, trial, coder));
      }
    }
    row.value.updated = clock_.Now();
    return sqlite::UpdateTuning(database, row);
  });
}

absl::Status SqliteStore::ForEachTrial(
    absl::string_view tuning_id,
    const std::function<void(space::Trial)>& visit) {
  const sqlite::ReaderPool::Lease reader = readers_->Borrow();
  HONE_ASSIGN_OR_RETURN(const Row<Tuning> row,
                        sqlite::FindTuning(*reader, tuning_id));
  return sqlite::ReadTrials(*reader, row, visit);
}

}  // namespace hone::storage
