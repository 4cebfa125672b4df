#include "storage/sqlite/status.h"

#include <cerrno>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include <sqlite3.h>

namespace hone::storage::sqlite {
namespace {

bool IsOutOfSpace(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

absl::StatusCode CodeOf(int code, int system_error) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
    case SQLITE_CANTOPEN:
      return IsOutOfSpace(system_error) ? absl::StatusCode::kResourceExhausted
                                        : absl::StatusCode::kUnavailable;
    case SQLITE_IOERR:
      if (code == SQLITE_IOERR_CORRUPTFS || code == SQLITE_IOERR_DATA) {
        return absl::StatusCode::kDataLoss;
      }
      return IsOutOfSpace(system_error) ? absl::StatusCode::kResourceExhausted
                                        : absl::StatusCode::kUnavailable;
    case SQLITE_FULL:
    case SQLITE_NOMEM:
      return absl::StatusCode::kResourceExhausted;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    // A table or column that the schema has is missing, or the like.
    case SQLITE_ERROR:
      return absl::StatusCode::kDataLoss;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return absl::StatusCode::kPermissionDenied;
    case SQLITE_TOOBIG:
      return absl::StatusCode::kInvalidArgument;
    case SQLITE_INTERRUPT:
      return absl::StatusCode::kDeadlineExceeded;
    default:
      return absl::StatusCode::kInternal;
  }
}

}  // namespace

absl::Status StatusOfCode(int code, int system_error,
                          absl::string_view message) {
  std::string text = absl::StrCat(message, " (", sqlite3_errstr(code), ")");
  if (system_error != 0) {
    absl::StrAppend(&text, ": ", std::generic_category().message(system_error));
  }
  return absl::Status(CodeOf(code, system_error), text);
}

absl::Status StatusOfErrno(int error, absl::string_view doing,
                           absl::string_view path) {
  const absl::StatusCode code = IsOutOfSpace(error)
                                    ? absl::StatusCode::kResourceExhausted
                                : error == ENOENT ? absl::StatusCode::kNotFound
                                : (error == EACCES || error == EROFS)
                                    ? absl::StatusCode::kPermissionDenied
                                    : absl::StatusCode::kUnavailable;
  return absl::Status(
      code, absl::StrCat("cannot ", doing, " '", path,
                         "': ", std::generic_category().message(error)));
}

}  // namespace hone::storage::sqlite
