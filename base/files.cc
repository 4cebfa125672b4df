#include "base/files.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"

#include "base/hash.h"
#include "base/may_block.h"

namespace hone {
namespace {

// These return an errno, 0 when all went well.

int Write(const std::string& path, const char* mode, absl::string_view bytes) {
  std::FILE* file = std::fopen(path.c_str(), mode);
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

int Replace(const std::string& path, absl::string_view bytes) {
  const std::string temporary = absl::StrCat(path, ".", RandomUuid(), ".tmp");
  // x: not a file that is there already; e: not for child processes.
  int error = Write(temporary, "wbxe", bytes);
  if (error == 0) error = Rename(temporary, path);
  if (error != 0) std::remove(temporary.c_str());
  return error;
}

// Distinguishes a path at fault from what is beyond the caller's control.
absl::StatusCode CodeOf(int error) {
  switch (error) {
    case EDQUOT:
    case EFBIG:
    case EIO:
    case ENOSPC:
      return absl::StatusCode::kResourceExhausted;
    default:
      return absl::StatusCode::kInvalidArgument;
  }
}

// Returns true if `path` leads to a device, a pipe or the like.
bool IsStream(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_other(path, error);
}

// The file that `path` leads to through links; `path` where there is none.
std::string BehindLinks(const std::string& path) {
  std::error_code error;
  const std::filesystem::path file = std::filesystem::canonical(path, error);
  return error ? path : file.string();
}

}  // namespace

absl::Status WriteFileAtomically(const std::string& path,
                                 absl::string_view bytes) {
  AssertMayBlock("writing a file");
  const int error = IsStream(path) ? Write(path, "wbe", bytes)
                                   : Replace(BehindLinks(path), bytes);
  if (error == 0) return absl::OkStatus();
  return absl::Status(CodeOf(error),
                      absl::StrCat(path, ": cannot be written: ",
                                   std::generic_category().message(error)));
}

}  // namespace hone
