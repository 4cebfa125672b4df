// A library that is loaded into honed (LD_PRELOAD): while the file
// $HONE_FAILING_WHILE exists, half of the writes to files below
// $HONE_FAILING_FOLDER, and of the calls that make them durable, fail with EIO.
// The file begins with a seed; each call that fails adds a byte to it.

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

namespace {

std::atomic<uint64_t> calls = 0;

template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

bool IsBelowFolder(int fd) {
  const char* folder = getenv("HONE_FAILING_FOLDER");
  if (folder == nullptr) return false;
  char link[64];
  char path[4096];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  const ssize_t size = readlink(link, path, sizeof(path) - 1);
  const size_t length = strlen(folder);
  return size > 0 && static_cast<size_t>(size) > length &&
         strncmp(path, folder, length) == 0 && path[length] == '/';
}

// Splitmix64.
uint64_t Mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// Returns true, and sets errno, if this call on `fd` is to fail.
bool Fails(int fd) {
  const int saved = errno;
  const char* path = getenv("HONE_FAILING_WHILE");
  if (path == nullptr) return false;
  const int file = open(path, O_RDWR | O_APPEND | O_CLOEXEC);
  bool fails = false;
  if (file >= 0 && IsBelowFolder(fd)) {
    char seed[32] = {};
    (void)!pread(file, seed, sizeof(seed) - 1, 0);
    fails = Mixed(strtoull(seed, nullptr, 10) + ++calls) % 2 == 0;
    if (fails)
      (void)!Next<ssize_t(int, const void*, size_t)>("write")(file, "x", 1);
  }
  if (file >= 0) close(file);
  errno = fails ? EIO : saved;
  return fails;
}

}  // namespace

extern "C" {

// The C library declares these.
ssize_t write(int fd, const void* bytes, size_t size) {
  static auto* const next = Next<ssize_t(int, const void*, size_t)>("write");
  return Fails(fd) ? -1 : next(fd, bytes, size);
}

ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  static auto* const next =
      Next<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  return Fails(fd) ? -1 : next(fd, bytes, size, offset);
}

ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t offset) {
  static auto* const next =
      Next<ssize_t(int, const void*, size_t, off64_t)>("pwrite64");
  return Fails(fd) ? -1 : next(fd, bytes, size, offset);
}

int fsync(int fd) {
  static auto* const next = Next<int(int)>("fsync");
  return Fails(fd) ? -1 : next(fd);
}

int fdatasync(int fd) {
  static auto* const next = Next<int(int)>("fdatasync");
  return Fails(fd) ? -1 : next(fd);
}

int ftruncate64(int fd, off64_t size) noexcept {
  static auto* const next = Next<int(int, off64_t)>("ftruncate64");
  return Fails(fd) ? -1 : next(fd, size);
}

}  // extern "C"
