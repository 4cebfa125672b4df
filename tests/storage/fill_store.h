#ifndef HONE_TESTS_STORAGE_FILL_STORE_H_
#define HONE_TESTS_STORAGE_FILL_STORE_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "base/hash.h"
#include "base/status_macros.h"
#include "storage/sqlite/database.h"
#include "storage/sqlite/migrations.h"
#include "storage/sqlite/rows.h"
#include "tests/storage/samples.h"

namespace hone::storage {

// The key of record `index` of a filled store: a module of its own, one of 24
// contexts.
inline CacheKey FilledKey(int64_t index) {
  CacheKey key = SampleKey(Sha256Hex(absl::StrCat("module ", index)));
  key.target = absl::StrCat("target-", index % 3);
  key.task_options = absl::StrCat("score=ops;numerics=", index / 3 % 4);
  key.space_version = absl::StrCat(index / 12 % 2, ":cse,dce,algsimp,reshape");
  return key;
}

// Adds `records` records, each with its finished tuning, to the store in
// `directory`, which nobody has open. Far faster than publishing them.
inline absl::Status FillStore(const std::string& directory, int64_t records) {
  constexpr int64_t kPerTransaction = 10'000;
  sqlite::Events events;
  const std::string path = directory + "/hone.db";
  HONE_ASSIGN_OR_RETURN(
      const std::unique_ptr<sqlite::Database> database,
      sqlite::Database::Open(path, sqlite::Database::Mode::kReadWrite,
                             absl::Seconds(5), &events));
  HONE_RETURN_IF_ERROR(Migrate(*database, path, sqlite::Migrations()));
  for (int64_t first = 0; first < records; first += kPerTransaction) {
    HONE_ASSIGN_OR_RETURN(sqlite::Transaction transaction,
                          sqlite::Transaction::Begin(*database));
    const int64_t end = std::min(records, first + kPerTransaction);
    for (int64_t i = first; i < end; ++i) {
      Record record = SampleRecord();
      record.key = FilledKey(i);
      record.tuning_id = absl::StrCat("tuning-", i);
      record.tuned_module_digest = Sha256Hex(absl::StrCat("tuned ", i));
      Tuning tuning = SampleTuning(record.tuning_id);
      tuning.key = record.key;
      tuning.module_digest = Sha256Hex(absl::StrCat("input ", i));
      tuning.state = TuningState::kSucceeded;
      HONE_RETURN_IF_ERROR(sqlite::InsertTuning(*database, tuning));
      HONE_RETURN_IF_ERROR(
          sqlite::InsertRecord(*database, record, record.created));
    }
    HONE_RETURN_IF_ERROR(transaction.Commit());
  }
  return database->Execute("PRAGMA wal_checkpoint(TRUNCATE)");
}

}  // namespace hone::storage

#endif  // HONE_TESTS_STORAGE_FILL_STORE_H_
