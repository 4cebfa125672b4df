#include "tests/storage/fault_vfs.h"

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

namespace hone::storage {
namespace {

std::atomic<int64_t> countdown = 0;  // 0: no fault
std::atomic<bool> persistent = false;
std::atomic<bool> is_full = false;
std::atomic<bool> has_failed = false;
std::string& blocker = *new std::string;  // set while nothing runs
// The calls of other threads and programs than BlobFiles are left alone.
thread_local bool is_armed_thread = false;

// Counts a call; returns true, with errno set, if it is to fail.
bool Fails(bool is_write) {
  bool fails = false;
  if (!blocker.empty()) {
    fails = is_write && access(blocker.c_str(), F_OK) == 0;
  } else if (countdown.load() > 0) {
    if (countdown.load() == 1) {
      fails = true;
      if (!persistent) countdown = -1;
    } else {
      --countdown;
    }
  }
  if (!fails) return false;
  has_failed = true;
  errno = is_full ? ENOSPC : EIO;
  return true;
}

// ---- SQLite's files

struct File {
  sqlite3_file base;
  sqlite3_file* real;  // lies behind this struct
};

sqlite3_vfs* real_vfs = nullptr;

sqlite3_file* Real(sqlite3_file* file) {
  return reinterpret_cast<File*>(file)->real;
}

int Write(sqlite3_file* file, const void* data, int size, sqlite3_int64 at) {
  if (Fails(true)) return is_full ? SQLITE_FULL : SQLITE_IOERR_WRITE;
  return Real(file)->pMethods->xWrite(Real(file), data, size, at);
}
int Sync(sqlite3_file* file, int flags) {
  if (Fails(true)) return SQLITE_IOERR_FSYNC;
  return Real(file)->pMethods->xSync(Real(file), flags);
}
int Close(sqlite3_file* file) {
  return Real(file)->pMethods->xClose(Real(file));
}
int Read(sqlite3_file* file, void* data, int size, sqlite3_int64 at) {
  return Real(file)->pMethods->xRead(Real(file), data, size, at);
}
int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  return Real(file)->pMethods->xTruncate(Real(file), size);
}
int FileSize(sqlite3_file* file, sqlite3_int64* size) {
  return Real(file)->pMethods->xFileSize(Real(file), size);
}
int Lock(sqlite3_file* file, int kind) {
  return Real(file)->pMethods->xLock(Real(file), kind);
}
int Unlock(sqlite3_file* file, int kind) {
  return Real(file)->pMethods->xUnlock(Real(file), kind);
}
int CheckReservedLock(sqlite3_file* file, int* result) {
  return Real(file)->pMethods->xCheckReservedLock(Real(file), result);
}
int FileControl(sqlite3_file* file, int operation, void* argument) {
  return Real(file)->pMethods->xFileControl(Real(file), operation, argument);
}
int SectorSize(sqlite3_file* file) {
  return Real(file)->pMethods->xSectorSize(Real(file));
}
int DeviceCharacteristics(sqlite3_file* file) {
  return Real(file)->pMethods->xDeviceCharacteristics(Real(file));
}
int ShmMap(sqlite3_file* file, int region, int size, int extend,
           void volatile** memory) {
  return Real(file)->pMethods->xShmMap(Real(file), region, size, extend,
                                       memory);
}
int ShmLock(sqlite3_file* file, int offset, int count, int flags) {
  return Real(file)->pMethods->xShmLock(Real(file), offset, count, flags);
}
void ShmBarrier(sqlite3_file* file) {
  Real(file)->pMethods->xShmBarrier(Real(file));
}
int ShmUnmap(sqlite3_file* file, int remove) {
  return Real(file)->pMethods->xShmUnmap(Real(file), remove);
}

const sqlite3_io_methods kMethods = {2,
                                     Close,
                                     Read,
                                     Write,
                                     Truncate,
                                     Sync,
                                     FileSize,
                                     Lock,
                                     Unlock,
                                     CheckReservedLock,
                                     FileControl,
                                     SectorSize,
                                     DeviceCharacteristics,
                                     ShmMap,
                                     ShmLock,
                                     ShmBarrier,
                                     ShmUnmap,
                                     nullptr,
                                     nullptr};

int Open(sqlite3_vfs*, const char* name, sqlite3_file* opened, int flags,
         int* out_flags) {
  auto* file = reinterpret_cast<File*>(opened);
  file->base.pMethods = nullptr;
  if (Fails(false)) return SQLITE_CANTOPEN;
  file->real = reinterpret_cast<sqlite3_file*>(file + 1);
  const int code =
      real_vfs->xOpen(real_vfs, name, file->real, flags, out_flags);
  if (code == SQLITE_OK) file->base.pMethods = &kMethods;
  return code;
}

sqlite3_vfs fault_vfs;

}  // namespace

FaultVfs::FaultVfs() {
  real_vfs = sqlite3_vfs_find(nullptr);
  fault_vfs = *real_vfs;
  fault_vfs.zName = "fault";
  fault_vfs.pNext = nullptr;
  fault_vfs.szOsFile = static_cast<int>(sizeof(File)) + real_vfs->szOsFile;
  fault_vfs.xOpen = Open;
  sqlite3_vfs_register(&fault_vfs, /*makeDflt=*/1);
}

FaultVfs::~FaultVfs() {
  Disarm();
  sqlite3_vfs_unregister(&fault_vfs);
  sqlite3_vfs_register(real_vfs, /*makeDflt=*/1);
}

void FaultVfs::Arm(Fault fault, int64_t n, bool persists) {
  is_full = fault == Fault::kFull;
  persistent = persists;
  has_failed = false;
  is_armed_thread = true;
  countdown = n;
}

void FaultVfs::FillUntilRemoved(const std::string& path) {
  is_full = true;
  has_failed = false;
  is_armed_thread = true;
  blocker = path;
}

bool FaultVfs::Disarm() {
  countdown = 0;
  blocker.clear();
  is_armed_thread = false;
  return has_failed;
}

}  // namespace hone::storage

// ---- The calls of BlobFiles, which come here before they reach the C library

namespace {

template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

bool FailsHere() {
  return hone::storage::is_armed_thread && hone::storage::Fails(true);
}

}  // namespace

extern "C" {

ssize_t write(int fd, const void* data, size_t size) {
  static auto* const next = Next<ssize_t(int, const void*, size_t)>("write");
  return FailsHere() ? -1 : next(fd, data, size);
}

int fsync(int fd) {
  static auto* const next = Next<int(int)>("fsync");
  return FailsHere() ? -1 : next(fd);
}

int rename(const char* from, const char* to) noexcept {
  static auto* const next = Next<int(const char*, const char*)>("rename");
  return FailsHere() ? -1 : next(from, to);
}

int open(const char* path, int flags, ...) {
  static auto* const next = Next<int(const char*, int, ...)>("open");
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode =
      (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : mode_t{0};
  va_end(arguments);
  if (absl::StrContains(path, "/blobs") && FailsHere()) return -1;
  return next(path, flags, mode);
}

}  // extern "C"
