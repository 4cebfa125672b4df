#ifndef HONE_STORAGE_SQLITE_ROWS_H_
#define HONE_STORAGE_SQLITE_ROWS_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "space/trial.h"
#include "storage/candidate_coder.h"
#include "storage/record.h"
#include "storage/sqlite/database.h"

// Converts between rows and values. Every row has a checksum over its other
// columns; reading a row that does not match returns DataLoss and counts it.
namespace hone::storage::sqlite {

// Columns of `tuning` in the order that ReadTuning expects.
#define HONE_TUNING_COLUMNS                                                    \
  "sequence, id, key_digest, module_fingerprint, target, task, task_options, " \
  "space_version, module_name, module_digest, optimizer, seed, "               \
  "budget_trials, budget_time_ns, state, error, trials, default_cost, "        \
  "best_cost, created_ns, updated_ns, checksum, budget_evaluations"
// Columns of `record` in the order that ReadRecord expects.
#define HONE_RECORD_COLUMNS                                                \
  "sequence, key_digest, module_fingerprint, target, task, task_options, " \
  "space_version, module_name, unit, default_cost, best_cost, decision, "  \
  "tuned_module_digest, optimizer, seed, trials, seconds, "                \
  "verification_method, verification_max_rel_error, tuning_id, producer, " \
  "created_ns, checksum, measured_by"
// How many these are: the place of the column after them.
inline constexpr int kRecordColumns = 24;

template <typename T>
struct Row {
  int64_t sequence = 0;
  T value;
};

absl::StatusOr<Row<Tuning>> ReadTuning(const Statement& row);
absl::StatusOr<Row<Record>> ReadRecord(const Statement& row);

// Reads the whole log of a tuning, trial by trial. Errors: DataLoss.
absl::Status ReadTrials(Database& database, const Row<Tuning>& tuning,
                        const std::function<void(space::Trial)>& visit);
// Returns the coder of the candidates that follow trial `last` (-1: none).
// After a corrupt row the next candidate is written in full.
absl::StatusOr<CandidateCoder> ResumeCoder(Database& database,
                                           int64_t tuning_sequence,
                                           int64_t last);

// Errors: NotFound; DataLoss.
absl::StatusOr<Row<Tuning>> FindTuning(Database& database,
                                       absl::string_view id);
absl::Status InsertTuning(Database& database, const Tuning& tuning);
// Writes the columns that change during a tuning.
absl::Status UpdateTuning(Database& database, const Row<Tuning>& tuning);
// Replaces the record of the same key. It counts as used at `used`.
absl::Status InsertRecord(Database& database, const Record& record,
                          absl::Time used);
// `coder` is that of the log, after the trials before.
absl::Status InsertTrial(Database& database, int64_t tuning_sequence,
                         const space::Trial& trial, CandidateCoder& coder);

}  // namespace hone::storage::sqlite

#endif  // HONE_STORAGE_SQLITE_ROWS_H_
