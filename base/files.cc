#include "base/files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "absl/strings/str_cat.h"

#include "base/hash.h"

namespace hone {
namespace {

// These return an errno, 0 when all went well.

int WriteNew(const std::string& path, absl::string_view bytes) {
  // x: not a file that is there already; e: not for child processes.
  std::FILE* file = std::fopen(path.c_str(), "wbxe");
  if (file == nullptr) return errno;
  int error = 0;
  if (std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size()) {
    error = errno;
  }
  if (std::fclose(file) != 0 && error == 0) error = errno;
  return error;
}

int Rename(const std::string& from, const std::string& to) {
  return std::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

}  // namespace

absl::Status WriteFileAtomically(const std::string& path,
                                 absl::string_view bytes) {
  const std::string temporary = absl::StrCat(path, ".", RandomUuid(), ".tmp");
  int error = WriteNew(temporary, bytes);
  if (error == 0) error = Rename(temporary, path);
  if (error == 0) return absl::OkStatus();
  std::remove(temporary.c_str());
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": cannot be written: ", std::strerror(error)));
}

}  // namespace hone
