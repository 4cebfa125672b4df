// A library that is loaded into honed and thereby into its worker (LD_PRELOAD):
// with $HONE_HOSTILE_CODE set, a seed, every sixth process that has entered the
// sandbox of candidates does harm at once, in place of the candidate, and
// counts it in the file $HONE_HOSTILE_COUNTS. A canary takes eight processes:
// if more did harm, a quarantined worker would hardly come back.

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/faults/hostile_counts.h"

namespace {

using hone::bench::HostileCounts;
using hone::bench::kAttacks;

// Splitmix64.
uint64_t Mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// Shared with the bench; mapped when the library is loaded, before any sandbox.
HostileCounts* MapCounts() {
  const char* const path = getenv("HONE_HOSTILE_COUNTS");
  if (path == nullptr) return nullptr;
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* const bytes = mmap(nullptr, sizeof(HostileCounts),
                           PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return bytes == MAP_FAILED ? nullptr : static_cast<HostileCounts*>(bytes);
}

HostileCounts* const counts = MapCounts();

// Set for the program of an "exec" that was let through.
constexpr char kExecuted[] = "HONE_HOSTILE_EXECUTED";
constexpr size_t kExec = kAttacks.size() - 1;

__attribute__((constructor)) void CountExecuted() {
  if (getenv(kExecuted) != nullptr && counts != nullptr) {
    ++counts->succeeded[kExec];
  }
}

// Deep enough for any stack; the address keeps the compiler from a loop.
int Recurse(volatile char* caller) {
  volatile char frame[4096];
  frame[0] = caller == nullptr ? char{0} : *caller;
  if (frame[0] == 1) return 0;
  return Recurse(frame) + frame[0];
}

// Does harm of one kind. Returns true if it was let through; a process that
// is ended for it returns nothing.
bool DoHarm(const char* attack) {
  const auto is = [&](const char* name) { return strcmp(attack, name) == 0; };
  if (is("segfault")) {
    volatile int* const volatile nowhere = nullptr;
    *nowhere = 1;
  }
  if (is("stack overflow")) return Recurse(nullptr) != 0;
  if (is("endless loop")) {
    const volatile bool forever = true;
    while (forever) {
    }
  }
  if (is("fork")) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    return child > 0;
  }
  if (is("64 GiB")) {
    constexpr size_t kSize = size_t{64} << 30;
    void* const bytes = mmap(nullptr, kSize, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED) return false;
    memset(bytes, 1, kSize);
    return true;
  }
  if (is("file")) {
    return open("/tmp/hone.hostile", O_WRONLY | O_CREAT, 0600) >= 0 ||
           open("/etc/passwd", O_RDONLY) >= 0;
  }
  if (is("network")) return socket(AF_INET, SOCK_STREAM, 0) >= 0;
  // Signal 0 harms nobody and is refused where others are.
  if (is("kill parent")) return kill(getppid(), 0) == 0;
  if (is("exec")) {
    char program[] = "/bin/true";
    char* const arguments[] = {program, nullptr};
    // It loads this library, which counts it.
    setenv(kExecuted, "1", 1);
    execv(program, arguments);
  }
  return false;
}

void Attack(size_t kind) {
  if (counts != nullptr) ++counts->tried[kind];
  const bool succeeded = DoHarm(kAttacks[kind]);
  if (counts != nullptr) {
    ++(succeeded ? counts->succeeded : counts->refused)[kind];
  }
  abort();
}

}  // namespace

extern "C" {

// Of libseccomp: loads the filter of the sandbox.
int seccomp_load(void* context);

int seccomp_load(void* context) {
  using Load = int(void*);
  static auto* const next =
      reinterpret_cast<Load*>(dlsym(RTLD_NEXT, "seccomp_load"));
  const int result = next(context);
  const char* const seed = getenv("HONE_HOSTILE_CODE");
  if (result != 0 || seed == nullptr) return result;
  const auto pid = static_cast<uint64_t>(getpid());
  const uint64_t choice = Mixed(uint64_t{strtoull(seed, nullptr, 10)} + pid);
  if (choice % 6 == 0) Attack(choice / 6 % kAttacks.size());
  return result;
}

}  // extern "C"
