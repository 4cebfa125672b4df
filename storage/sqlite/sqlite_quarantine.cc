// The part of SqliteStore that is about what ends processes.
#include <string>
#include <vector>

#include "absl/time/time.h"

#include "base/status_macros.h"
#include "storage/contract.h"
#include "storage/sqlite/database.h"
#include "storage/sqlite/reader_pool.h"
#include "storage/sqlite/rows.h"
#include "storage/sqlite/sqlite_store.h"

namespace hone::storage {

using sqlite::Database;
using sqlite::Statement;

absl::StatusOr<int64_t> SqliteStore::CountAttempt(absl::string_view id) {
  int64_t attempts = 0;
  const auto count = [&](Database& database) -> absl::Status {
    // Also the error of a tuning that is not there.
    HONE_RETURN_IF_ERROR(sqlite::FindTuning(database, id).status());
    HONE_ASSIGN_OR_RETURN(
        Statement update,
        database.Prepare("UPDATE tuning SET attempts = CASE "
                         "WHEN trials > attempt_trials THEN 1 "
                         "ELSE attempts + 1 END, attempt_trials = trials "
                         "WHERE id = ?1"));
    HONE_RETURN_IF_ERROR(update.Bind(id).Run());
    HONE_ASSIGN_OR_RETURN(
        Statement query,
        database.Prepare("SELECT attempts FROM tuning WHERE id = ?1"));
    HONE_RETURN_IF_ERROR(query.Bind(id).Step().status());
    attempts = query.Int(0);
    return absl::OkStatus();
  };
  HONE_RETURN_IF_ERROR(Write(count, /*is_state=*/true));
  return attempts;
}

absl::Status SqliteStore::SetAside(const QuarantinedModule& module) {
  return Write(
      [&](Database& database) -> absl::Status {
        HONE_ASSIGN_OR_RETURN(
            Statement insert,
            database.Prepare("INSERT OR REPLACE INTO quarantine "
                             "(module_digest, reason, since_ns) "
                             "VALUES (?1, ?2, ?3)"));
        return insert
            .Bind(module.digest, module.reason, absl::ToUnixNanos(module.since))
            .Run();
      },
      /*is_state=*/true);
}

absl::StatusOr<std::vector<QuarantinedModule>> SqliteStore::ListSetAside() {
  const sqlite::ReaderPool::Lease reader = readers_->Borrow();
  HONE_ASSIGN_OR_RETURN(
      Statement query,
      reader->Prepare("SELECT module_digest, reason, since_ns FROM quarantine "
                      "ORDER BY module_digest"));
  std::vector<QuarantinedModule> modules;
  while (true) {
    HONE_ASSIGN_OR_RETURN(const bool found, query.Step());
    if (!found) return modules;
    modules.push_back({.digest = query.Text(0),
                       .reason = query.Text(1),
                       .since = absl::FromUnixNanos(query.Int(2))});
  }
}

absl::Status SqliteStore::TakeBack(absl::string_view digest) {
  return Write([&](Database& database) -> absl::Status {
    HONE_ASSIGN_OR_RETURN(
        Statement remove,
        database.Prepare("DELETE FROM quarantine WHERE module_digest = ?1"));
    HONE_RETURN_IF_ERROR(remove.Bind(digest).Run());
    return database.changes() > 0 ? absl::OkStatus() : NotSetAside(digest);
  });
}

}  // namespace hone::storage
