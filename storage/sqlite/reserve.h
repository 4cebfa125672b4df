#ifndef HONE_STORAGE_SQLITE_RESERVE_H_
#define HONE_STORAGE_SQLITE_RESERVE_H_

#include <cstdint>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"

namespace hone::storage::sqlite {

// A file that keeps disk space back, so that the outcome of what runs can be
// stored once the disk is full.
// Threads: thread-safe.
class Reserve {
 public:
  // `bytes` 0: no reserve; both calls do nothing.
  Reserve(std::string path, int64_t bytes);

  // Takes the space unless it is taken already. Leaves as much again to others,
  // so that a disk on which only the reserve would fit counts as full.
  // Errors: ResourceExhausted; Unavailable if the disk fails.
  absl::Status Restore();
  // Gives the space to whoever writes next.
  void Release();

 private:
  const std::string path_;
  const int64_t bytes_;
  absl::Mutex mu_;
  bool held_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace hone::storage::sqlite

#endif  // HONE_STORAGE_SQLITE_RESERVE_H_
