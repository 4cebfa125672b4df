#include "storage/sqlite/reserve.h"

#include <cerrno>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "storage/sqlite/status.h"

namespace hone::storage::sqlite {

Reserve::Reserve(std::string path, int64_t bytes)
    : path_(std::move(path)), bytes_(bytes) {
  struct stat file {};
  held_ = bytes == 0 || (stat(path_.c_str(), &file) == 0 &&
                         file.st_blocks * int64_t{512} >= bytes);
}

absl::Status Reserve::Restore() {
  absl::MutexLock lock(&mu_);
  if (held_) return absl::OkStatus();
  const int fd = open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return StatusOfErrno(errno, "create", path_);
  absl::Cleanup remover = [&] { unlink(path_.c_str()); };
  const auto closer = absl::MakeCleanup([fd] { close(fd); });
  struct statvfs filesystem {};
  if (fstatvfs(fd, &filesystem) != 0) {
    return StatusOfErrno(errno, "examine", path_);
  }
  if (filesystem.f_bavail * filesystem.f_frsize <
      2 * static_cast<uint64_t>(bytes_)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the disk of '", path_, "' has less than ",
                     2 * bytes_ / (1 << 20), " MiB free"));
  }
  if (const int error = posix_fallocate(fd, 0, bytes_); error != 0) {
    return StatusOfErrno(error, "allocate", path_);
  }
  std::move(remover).Cancel();
  held_ = true;
  return absl::OkStatus();
}

void Reserve::Release() {
  if (bytes_ == 0) return;
  absl::MutexLock lock(&mu_);
  unlink(path_.c_str());
  held_ = false;
}

}  // namespace hone::storage::sqlite
