#ifndef HONE_STORAGE_SQLITE_SCHEMA_CHECK_H_
#define HONE_STORAGE_SQLITE_SCHEMA_CHECK_H_

#include <string>

#include "absl/status/status.h"

#include "storage/sqlite/database.h"

namespace hone::storage::sqlite {

// Checks that the database at `path`, of the newest version, has what its
// migrations make: tables with their columns, indexes, triggers. SQLite checks
// none of it: a bit that flips in the name of a column leaves a sound file
// whose queries fail, or answer with another column. More than that may be
// there.
// Errors: DataLoss, naming what differs.
absl::Status CheckSchema(Database& database, const std::string& path);

}  // namespace hone::storage::sqlite

#endif  // HONE_STORAGE_SQLITE_SCHEMA_CHECK_H_
