#ifndef HONE_STORAGE_SQLITE_MIGRATIONS_H_
#define HONE_STORAGE_SQLITE_MIGRATIONS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "storage/sqlite/database.h"

namespace hone::storage::sqlite {

// A step of the schema: leads from version-1 to `version`, and sets PRAGMA
// user_version to it.
struct Migration {
  int version;
  absl::string_view sql;
};

// All of storage/migrations, built in, by version from 1 on.
absl::Span<const Migration> Migrations();

// Brings the database at `path` to the newest of `migrations`, each in a
// transaction of its own. A database that holds data is copied first, to
// PATH.vN.backup where N is its version.
// Errors: FailedPrecondition for a database of a newer version, or of another
// program; nothing is changed then. After an error the database is at some
// version from which a later call goes on.
absl::Status Migrate(Database& database, const std::string& path,
                     absl::Span<const Migration> migrations);

}  // namespace hone::storage::sqlite

#endif  // HONE_STORAGE_SQLITE_MIGRATIONS_H_
