// A library that is loaded into honed and thereby into its worker (LD_PRELOAD):
// with $HONE_HOSTILE_CODE set, a seed, every third process that has entered the
// sandbox of candidates does harm at once, in place of the candidate.

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

// Splitmix64.
uint64_t Mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// Deep enough for any stack; the address keeps the compiler from a loop.
int Recurse(volatile char* caller) {
  volatile char frame[4096];
  frame[0] = caller == nullptr ? char{0} : *caller;
  if (frame[0] == 1) return 0;
  return Recurse(frame) + frame[0];
}

// Returns only if the attack was refused.
void Attack(uint64_t kind) {
  switch (kind) {
    case 0: {
      volatile int* const volatile nowhere = nullptr;
      *nowhere = 1;
      break;
    }
    case 1:
      (void)Recurse(nullptr);
      break;
    case 2: {
      const volatile bool forever = true;
      while (forever) {
      }
      break;
    }
    case 3:
      while (fork() >= 0) {
      }
      break;
    case 4: {
      constexpr size_t kSize = size_t{64} << 30;
      void* const bytes = mmap(nullptr, kSize, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (bytes != MAP_FAILED) memset(bytes, 1, kSize);
      break;
    }
    case 5:
      (void)!open("/tmp/hone.hostile", O_WRONLY | O_CREAT, 0600);
      break;
    default:
      (void)!socket(AF_INET, SOCK_STREAM, 0);
      break;
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
  if (choice % 3 == 0) Attack(choice / 3 % 7);
  return result;
}

}  // extern "C"
