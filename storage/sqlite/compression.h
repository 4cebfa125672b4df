#ifndef HONE_STORAGE_SQLITE_COMPRESSION_H_
#define HONE_STORAGE_SQLITE_COMPRESSION_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hone::storage {

// Returns the bytes as one Zstandard frame, which holds their size.
// Errors: Internal if the library fails.
absl::StatusOr<std::string> Compress(absl::string_view bytes);

}  // namespace hone::storage

#endif  // HONE_STORAGE_SQLITE_COMPRESSION_H_
