#ifndef HONE_STORAGE_SQLITE_BLOB_FILES_H_
#define HONE_STORAGE_SQLITE_BLOB_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace hone::storage::sqlite {

// Syncs the directory entry changes of `path` to disk.
absl::Status SyncDirectory(const std::string& path);
// Syncs the content of the file `path` to disk.
absl::Status SyncFile(const std::string& path);

// Content-addressed files below a directory: blobs/ab/abcdef….zst.
// Threads: thread-safe; the same digest may be written twice at once.
class BlobFiles {
 public:
  // `root` exists. Removes the remains of an interrupted Write.
  explicit BlobFiles(const std::string& root);

  // Writes the file. After a crash it is complete or absent; OK means that it
  // is on disk. Errors: ResourceExhausted if the disk is full.
  absl::Status Write(absl::string_view digest, absl::string_view bytes) const;
  // Errors: NotFound; DataLoss if its size is not `size`.
  absl::StatusOr<std::string> Read(absl::string_view digest,
                                   int64_t size) const;
  // Removes the file if there is one.
  void Remove(absl::string_view digest) const;
  // Adds the file to the tree of `root`, as a hard link: files are replaced,
  // never changed. Errors: DataLoss if there is none.
  absl::Status Link(absl::string_view digest, const std::string& root) const;
  // Returns the digests of the files in folder `folder` of 256 that were
  // written before `time`.
  std::vector<std::string> OldFiles(int folder, absl::Time time) const;

 private:
  std::string PathOf(absl::string_view digest) const;

  std::string directory_;
  std::string scratch_;
};

}  // namespace hone::storage::sqlite

#endif  // HONE_STORAGE_SQLITE_BLOB_FILES_H_
