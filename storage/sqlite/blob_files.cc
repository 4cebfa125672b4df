#include "storage/sqlite/blob_files.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/status_macros.h"
#include "storage/sqlite/status.h"

namespace hone::storage::sqlite {
namespace {

absl::Status Sync(const std::string& path, int flags) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC);
  if (fd < 0) return StatusOfErrno(errno, "open", path);
  const int result = fsync(fd);
  const int error = errno;
  close(fd);
  return result == 0 ? absl::OkStatus() : StatusOfErrno(error, "sync", path);
}

absl::Status WriteNew(const std::string& path, absl::string_view bytes) {
  const int fd =
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) return StatusOfErrno(errno, "create", path);
  const auto closer = absl::MakeCleanup([fd] { close(fd); });
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return StatusOfErrno(errno, "write", path);
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  if (fsync(fd) != 0) return StatusOfErrno(errno, "sync", path);
  return absl::OkStatus();
}

// Creates `path` in `parent`, durably.
absl::Status MakeDirectory(const std::string& path, const std::string& parent) {
  std::error_code error;
  const bool created = std::filesystem::create_directory(path, error);
  if (error) return StatusOfErrno(error.value(), "create", path);
  return created ? SyncDirectory(parent) : absl::OkStatus();
}

}  // namespace

absl::Status SyncDirectory(const std::string& path) {
  return Sync(path, O_RDONLY | O_DIRECTORY);
}

absl::Status SyncFile(const std::string& path) { return Sync(path, O_RDONLY); }

BlobFiles::BlobFiles(const std::string& root)
    : directory_(absl::StrCat(root, "/blobs")),
      scratch_(absl::StrCat(root, "/blobs.tmp")) {
  std::error_code ignored;
  std::filesystem::remove_all(scratch_, ignored);
}

std::string BlobFiles::PathOf(absl::string_view digest) const {
  return absl::StrCat(directory_, "/", digest.substr(0, 2), "/", digest,
                      ".zst");
}

absl::Status BlobFiles::Write(absl::string_view digest,
                              absl::string_view bytes) const {
  const std::string path = PathOf(digest);
  const std::string folder = path.substr(0, path.rfind('/'));
  const std::string root = directory_.substr(0, directory_.rfind('/'));
  HONE_RETURN_IF_ERROR(MakeDirectory(directory_, root));
  HONE_RETURN_IF_ERROR(MakeDirectory(folder, directory_));
  HONE_RETURN_IF_ERROR(MakeDirectory(scratch_, root));

  const std::string temporary = absl::StrCat(scratch_, "/", RandomUuid());
  absl::Cleanup remover = [&] { unlink(temporary.c_str()); };
  HONE_RETURN_IF_ERROR(WriteNew(temporary, bytes));
  if (rename(temporary.c_str(), path.c_str()) != 0) {
    return StatusOfErrno(errno, "rename to", path);
  }
  std::move(remover).Cancel();
  return SyncDirectory(folder);
}

absl::StatusOr<std::string> BlobFiles::Read(absl::string_view digest,
                                            int64_t size) const {
  const std::string path = PathOf(digest);
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return StatusOfErrno(errno, "open", path);
  const auto closer = absl::MakeCleanup([fd] { close(fd); });
  const off_t actual = lseek(fd, 0, SEEK_END);
  if (actual != size) {
    return absl::DataLossError(
        absl::StrCat("'", path, "' has ", actual, " bytes, expected ", size));
  }
  std::string bytes(static_cast<size_t>(size), '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = pread(fd, bytes.data() + done, bytes.size() - done,
                                static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return StatusOfErrno(errno, "read", path);
    if (count == 0) {
      return absl::DataLossError(absl::StrCat("'", path, "' became shorter"));
    }
    done += static_cast<size_t>(count);
  }
  return bytes;
}

void BlobFiles::Remove(absl::string_view digest) const {
  unlink(PathOf(digest).c_str());
}

absl::Status BlobFiles::Link(absl::string_view digest,
                             const std::string& root) const {
  const std::string path = PathOf(digest);
  const std::string directory = absl::StrCat(root, "/blobs");
  const std::string folder = absl::StrCat(directory, "/", digest.substr(0, 2));
  HONE_RETURN_IF_ERROR(MakeDirectory(directory, root));
  HONE_RETURN_IF_ERROR(MakeDirectory(folder, directory));
  const std::string target = absl::StrCat(folder, "/", digest, ".zst");
  if (link(path.c_str(), target.c_str()) == 0) return SyncDirectory(folder);
  if (errno == ENOENT) {
    return absl::DataLossError(
        absl::StrCat("the file of blob ", digest, " is missing"));
  }
  return StatusOfErrno(errno, "link", path);
}

std::vector<std::string> BlobFiles::OldFiles(int folder,
                                             absl::Time time) const {
  std::vector<std::string> digests;
  std::error_code error;
  const std::string path =
      absl::StrCat(directory_, "/", absl::Hex(folder, absl::kZeroPad2));
  for (std::filesystem::directory_iterator entry(path, error), end;
       !error && entry != end; entry.increment(error)) {
    struct stat file {};
    if (stat(entry->path().c_str(), &file) == 0 &&
        absl::TimeFromTimespec(file.st_mtim) < time) {
      digests.push_back(entry->path().stem().string());
    }
  }
  return digests;
}

}  // namespace hone::storage::sqlite
