#ifndef HONE_STORAGE_SQLITE_DIRECTORY_H_
#define HONE_STORAGE_SQLITE_DIRECTORY_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hone::storage::sqlite {

// Refuses filesystems that are shared between machines or served by another
// process, by statfs's magic number. A write-ahead log needs memory shared by
// all its users, and reliable locks.
// Errors: FailedPrecondition, naming the filesystem.
absl::Status CheckLocalFilesystem(uint32_t magic, const std::string& path);

// The directory of a store, locked by this process.
class Directory {
 public:
  // Creates the directory if it is missing, and locks it.
  // Errors: Unavailable if a process (even this one) holds it, naming the
  // process; FailedPrecondition on a network filesystem.
  static absl::StatusOr<std::unique_ptr<Directory>> Lock(
      const std::string& path);
  // Releases the lock.
  ~Directory();
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  const std::string& path() const { return path_; }

 private:
  Directory(std::string path, int lock_fd)
      : path_(std::move(path)), lock_fd_(lock_fd) {}

  std::string path_;
  int lock_fd_;
};

}  // namespace hone::storage::sqlite

#endif  // HONE_STORAGE_SQLITE_DIRECTORY_H_
