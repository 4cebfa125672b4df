#ifndef HONE_TESTS_STORAGE_FAULT_VFS_H_
#define HONE_TESTS_STORAGE_FAULT_VFS_H_

#include <cstdint>
#include <string>

namespace hone::storage {

// While it lives, all files that SQLite opens go through it, and the calls of
// BlobFiles on the thread that armed it. It lets writes, syncs and opens fail
// as the system would.
class FaultVfs {
 public:
  enum class Fault { kFull, kIoError };

  FaultVfs();
  ~FaultVfs();
  FaultVfs(const FaultVfs&) = delete;
  FaultVfs& operator=(const FaultVfs&) = delete;

  // Lets the `n`-th call from now on fail, from 1; and all after it if
  // `persists`.
  void Arm(Fault fault, int64_t n, bool persists);
  // Lets writes fail, as on a full disk, while `path` exists.
  void FillUntilRemoved(const std::string& path);
  // Ends the faults. Returns true if a call has failed.
  bool Disarm();
};

}  // namespace hone::storage

#endif  // HONE_TESTS_STORAGE_FAULT_VFS_H_
