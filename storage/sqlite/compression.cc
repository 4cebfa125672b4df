#include "storage/sqlite/compression.h"

#include "absl/strings/str_cat.h"
#include <zstd.h>

namespace hone::storage {

absl::StatusOr<std::string> Compress(absl::string_view bytes) {
  std::string result(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress(result.data(), result.size(), bytes.data(),
                                    bytes.size(), ZSTD_CLEVEL_DEFAULT);
  if (ZSTD_isError(size) != 0) {
    return absl::InternalError(
        absl::StrCat("cannot compress: ", ZSTD_getErrorName(size)));
  }
  result.resize(size);
  return result;
}

}  // namespace hone::storage
