#include "storage/sqlite/migrations.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "storage/sqlite/blob_files.h"
#include "storage/sqlite/status.h"

namespace hone::storage::sqlite {
namespace {

constexpr int64_t kApplicationId = 0x486f6e65;  // "Hone"

// Errors: FailedPrecondition when the file holds something else.
absl::Status CheckIsOurs(Database& database, const std::string& path,
                         int64_t version) {
  HONE_ASSIGN_OR_RETURN(const int64_t application,
                        database.QueryInt("PRAGMA application_id"));
  if (application == kApplicationId) return absl::OkStatus();
  HONE_ASSIGN_OR_RETURN(
      const int64_t objects,
      database.QueryInt("SELECT COUNT(*) FROM sqlite_schema"));
  if (application == 0 && version == 0 && objects == 0) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("'", path, "' is the database of another program"));
}

// VACUUM INTO does not sync and can be interrupted, hence the detour.
absl::Status Backup(Database& database, const std::string& path,
                    int64_t version) {
  const std::string target = absl::StrCat(path, ".v", version, ".backup");
  const std::string temporary = absl::StrCat(target, ".tmp");
  std::remove(temporary.c_str());
  HONE_ASSIGN_OR_RETURN(Statement copy, database.Prepare("VACUUM INTO ?1"));
  HONE_RETURN_IF_ERROR(copy.Bind(absl::string_view(temporary)).Run());
  HONE_RETURN_IF_ERROR(SyncFile(temporary));
  if (std::rename(temporary.c_str(), target.c_str()) != 0) {
    return StatusOfErrno(errno, "rename to", target);
  }
  return SyncDirectory(target.substr(0, target.rfind('/')));
}

}  // namespace

absl::Status Migrate(Database& database, const std::string& path,
                     absl::Span<const Migration> migrations) {
  HONE_ASSIGN_OR_RETURN(int64_t version,
                        database.QueryInt("PRAGMA user_version"));
  HONE_RETURN_IF_ERROR(CheckIsOurs(database, path, version));
  const int newest = migrations.back().version;
  if (version > newest) {
    return absl::FailedPreconditionError(absl::StrCat(
        "store '", path, "' has schema version ", version,
        ", which is newer than version ", newest,
        " that this program knows; use the version of Hone that wrote it"));
  }
  if (version > 0 && version < newest) {
    HONE_RETURN_IF_ERROR(Backup(database, path, version));
  }
  for (const Migration& migration : migrations) {
    if (migration.version <= version) continue;
    HONE_ASSIGN_OR_RETURN(Transaction transaction,
                          Transaction::Begin(database));
    HONE_RETURN_IF_ERROR(database.Execute(std::string(migration.sql)));
    HONE_RETURN_IF_ERROR(transaction.Commit());
    HONE_ASSIGN_OR_RETURN(version, database.QueryInt("PRAGMA user_version"));
    if (version != migration.version) {
      return absl::InternalError(absl::StrCat("migration ", migration.version,
                                              " sets user_version ", version));
    }
  }
  return absl::OkStatus();
}

}  // namespace hone::storage::sqlite
