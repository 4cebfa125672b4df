#ifndef HONE_STORAGE_SQLITE_RESTORE_H_
#define HONE_STORAGE_SQLITE_RESTORE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hone::storage {

// Checks the name of a backup: a plain file name of 1 to 64 letters, digits,
// '.', '_' and '-', not beginning with '.'. Errors: InvalidArgument.
absl::Status CheckBackupName(absl::string_view name);

struct RestoreInfo {
  int64_t records = 0;
  // The folder with what was replaced.
  std::string replaced;
};

// Replaces the store in `directory`, which nobody has open, by its backup
// `name`. First verifies a copy of the backup: its structure, every row and
// every blob. What was there is moved to a folder of its own. After a crash the
// store is the old one, or refuses to open until it is restored again.
// Errors: InvalidArgument for the name; NotFound; Unavailable if a process has
// the store open, naming it; FailedPrecondition for a backup of a newer
// version; DataLoss, with the first finding, if the backup is corrupt.
absl::StatusOr<RestoreInfo> RestoreBackup(const std::string& directory,
                                          absl::string_view name);

namespace sqlite {

// Errors: FailedPrecondition after a restoration that was interrupted.
absl::Status CheckRestored(const std::string& directory);

}  // namespace sqlite
}  // namespace hone::storage

#endif  // HONE_STORAGE_SQLITE_RESTORE_H_
