#include "bench/service/fill_store.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"

#include "base/hash.h"
#include "base/status_macros.h"
#include "storage/sqlite/database.h"
#include "storage/sqlite/migrations.h"
#include "storage/sqlite/rows.h"

namespace hone::bench {
namespace {

constexpr int64_t kPerTransaction = 10'000;

storage::Tuning TuningOf(const storage::Record& record) {
  storage::Tuning tuning;
  tuning.id = record.tuning_id;
  tuning.key = record.key;
  tuning.module_name = record.module_name;
  tuning.module_digest =
      Sha256Hex(absl::StrCat("input ", record.key.module_fingerprint));
  tuning.optimizer = record.optimizer;
  tuning.seed = record.seed;
  tuning.budget.trials = record.trials;
  tuning.state = storage::TuningState::kSucceeded;
  tuning.trials = record.trials;
  tuning.default_cost = record.default_cost;
  tuning.best_cost = record.best_cost;
  tuning.created = record.created;
  tuning.updated = record.created;
  return tuning;
}

}  // namespace

absl::Status FillStore(const std::string& directory, int64_t records,
                       const std::function<storage::Record(int64_t)>& record) {
  namespace sqlite = storage::sqlite;
  sqlite::Events events;
  const std::string path = directory + "/hone.db";
  HONE_ASSIGN_OR_RETURN(
      const std::unique_ptr<sqlite::Database> database,
      sqlite::Database::Open(path, sqlite::Database::Mode::kReadWrite,
                             absl::Seconds(5), &events));
  HONE_RETURN_IF_ERROR(sqlite::Migrate(*database, path, sqlite::Migrations()));
  for (int64_t first = 0; first < records; first += kPerTransaction) {
    HONE_ASSIGN_OR_RETURN(sqlite::Transaction transaction,
                          sqlite::Transaction::Begin(*database));
    const int64_t end = std::min(records, first + kPerTransaction);
    for (int64_t i = first; i < end; ++i) {
      storage::Record filled = record(i);
      filled.tuning_id = absl::StrCat("tuning-", i);
      HONE_RETURN_IF_ERROR(sqlite::InsertTuning(*database, TuningOf(filled)));
      HONE_RETURN_IF_ERROR(
          sqlite::InsertRecord(*database, filled, filled.created));
    }
    HONE_RETURN_IF_ERROR(transaction.Commit());
  }
  return database->Execute("PRAGMA wal_checkpoint(TRUNCATE)");
}

}  // namespace hone::bench
