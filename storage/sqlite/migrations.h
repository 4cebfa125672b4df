#ifndef HONE_STORAGE_SQLITE_MIGRATIONS_H_
#define HONE_STORAGE_SQLITE_MIGRATIONS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "storage/sqlite/database.h"

namespace hone::storage::sqlite {

// A step of the schema from version-1 to `version`; sets PRAGMA user_version.
struct Migration {
  int version;
  absl::string_view sql;
};

// The migrations of storage/migrations, built in, by version from 1 on.
absl::Span<const Migration> Migrations();

// Migrates the database at `path` to the newest version, each step in its own
// transaction. Copies a database that holds data first, to PATH.vN.backup, N
// being its version.
// Errors: FailedPrecondition for a database of a newer version or of another
// program, which stays unchanged. After another error the database is at an
// intermediate version, from which a later call continues.
absl::Status Migrate(Database& database, const std::string& path,
                     absl::Span<const Migration> migrations);

}  // namespace hone::storage::sqlite

#endif  // HONE_STORAGE_SQLITE_MIGRATIONS_H_
