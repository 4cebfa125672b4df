#ifndef HONE_BENCH_FAULTS_SMALL_DISK_H_
#define HONE_BENCH_FAULTS_SMALL_DISK_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include <sys/types.h>

#include "base/temporary_directory.h"

namespace hone::bench {

// A small filesystem in memory, in a mount namespace of its own, so that it is
// nobody else's and goes with this process.
class SmallDisk {
 public:
  // Its size is `bytes`. Errors: Unavailable where this process may not mount
  // one.
  static absl::StatusOr<std::unique_ptr<SmallDisk>> Create(int64_t bytes);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  // A folder of the disk, as processes see it that `wrapper` starts.
  std::string path() const { return mount_.path(); }
  std::vector<std::string> wrapper() const;
  // Leaves `bytes` of the disk free. Errors: Internal.
  absl::Status Fill(int64_t bytes);
  // Undoes Fill.
  void Free();

 private:
  SmallDisk() = default;
  // The disk's folder, as this process sees it.
  std::string FolderSeenFromHere() const;

  const TemporaryDirectory mount_;
  pid_t holder_ = -1;  // keeps the namespace
  int input_ = -1;     // of the holder, which ends with it
  bool has_user_namespace_ = false;
};

}  // namespace hone::bench

#endif  // HONE_BENCH_FAULTS_SMALL_DISK_H_
