#ifndef HONE_STORAGE_SQLITE_STATUS_H_
#define HONE_STORAGE_SQLITE_STATUS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace hone::storage::sqlite {

// Converts a code of SQLite; the only place that does. `code` is an extended
// result code other than OK, ROW and DONE; `system_error` is the errno of an
// I/O error, or 0.
absl::Status StatusOfCode(int code, int system_error,
                          absl::string_view message);

// Returns the status of a failed system call on `path`: ResourceExhausted for a
// full disk, a quota or a file-size limit, NotFound for a missing file, else
// Unavailable.
absl::Status StatusOfErrno(int error, absl::string_view doing,
                           absl::string_view path);

}  // namespace hone::storage::sqlite

#endif  // HONE_STORAGE_SQLITE_STATUS_H_
