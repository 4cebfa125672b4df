#include "storage/sqlite/directory.h"

#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include <fcntl.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/status_macros.h"
#include "storage/sqlite/status.h"

namespace hone::storage::sqlite {
namespace {

// Magic numbers from linux/magic.h and the filesystems' own sources.
struct RemoteFilesystem {
  uint32_t magic;
  absl::string_view name;
};
constexpr RemoteFilesystem kRemoteFilesystems[] = {
    {0x00006969, "NFS"},    {0x0000517B, "SMB"},   {0xFF534D42, "CIFS"},
    {0xFE534D42, "SMB2"},   {0x65735546, "FUSE"},  {0x0BD00BD0, "Lustre"},
    {0x01021997, "9P"},     {0x00C36400, "Ceph"},  {0x5346414F, "AFS"},
    {0x73757245, "Coda"},   {0x7461636F, "OCFS2"}, {0x47504653, "GPFS"},
    {0x19830326, "BeeGFS"}, {0x01161970, "GFS2"},
};

// A description of the holder of a lock; written into the lock file.
std::string Self() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return absl::StrCat("process ", getpid(), " on host '", host.data(), "'\n");
}

std::string ReadHolder(int fd) {
  std::array<char, 512> text;
  const ssize_t size = pread(fd, text.data(), text.size(), 0);
  if (size <= 0) return "another process";
  return absl::StrReplaceAll(
      absl::string_view(text.data(), static_cast<size_t>(size)), {{"\n", ""}});
}

}  // namespace

absl::Status CheckLocalFilesystem(uint32_t magic, const std::string& path) {
  for (const RemoteFilesystem& remote : kRemoteFilesystems) {
    if (magic == remote.magic) {
      return absl::FailedPreconditionError(
          absl::StrCat("'", path, "' is on a ", remote.name,
                       " filesystem, expected a local disk"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Directory>> Directory::Lock(
    const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) {
    return StatusOfErrno(error.value(), "create store directory", path);
  }
  struct statfs filesystem {};
  if (statfs(path.c_str(), &filesystem) != 0) {
    return StatusOfErrno(errno, "examine", path);
  }
  HONE_RETURN_IF_ERROR(
      CheckLocalFilesystem(static_cast<uint32_t>(filesystem.f_type), path));

  const std::string lock_path = absl::StrCat(path, "/lock");
  const int fd = open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return StatusOfErrno(errno, "open", lock_path);
  std::unique_ptr<Directory> directory(new Directory(path, fd));
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return StatusOfErrno(errno, "lock", lock_path);
    return absl::UnavailableError(
        absl::StrCat("store '", path, "' is in use by ", ReadHolder(fd)));
  }
  // For the message above only, so that a full disk does not matter.
  const std::string self = Self();
  if (ftruncate(fd, 0) == 0) {
    [[maybe_unused]] const ssize_t written =
        pwrite(fd, self.data(), self.size(), 0);
  }
  return directory;
}

Directory::~Directory() { close(lock_fd_); }

}  // namespace hone::storage::sqlite
