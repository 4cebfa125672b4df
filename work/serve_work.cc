#include "work/serve_work.h"

#include <algorithm>
#include <cstdio>
#include <thread>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/out_of_memory.h"
#include "base/thread_pool.h"
#include "work/environments.h"
#include "work/jobs.h"
#include "work/parent.h"

namespace hone::work {
namespace {

// The sanitizers' shadow memory would count.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kCanLimitMemory = false;
#else
constexpr bool kCanLimitMemory = true;
#endif

void LimitMemory(int64_t bytes) {
  SetOutOfMemoryHandler([](const char*) { _exit(kOutOfMemory); });
  if (bytes == 0 || !kCanLimitMemory) return;
  // Of writable private pages, not of addresses: those that are only reserved
  // take no memory.
  const rlimit limit = {static_cast<rlim_t>(bytes), static_cast<rlim_t>(bytes)};
  setrlimit(RLIMIT_DATA, &limit);
}

void BeFirstToEnd() {
  // No core file of many gigabytes, and the first choice of a system that runs
  // out of memory, instead of the program that this one works for.
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (FILE* const file = std::fopen("/proc/self/oom_score_adj", "w")) {
    std::fputs("1000", file);
    std::fclose(file);
  }
}

int64_t ResidentBytes() {
  FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  long all = 0;
  long resident = 0;
  const int read = std::fscanf(file, "%ld %ld", &all, &resident);
  std::fclose(file);
  return read == 2 ? int64_t{resident} * sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace

void ServeWork(int from, int to, int64_t memory_bytes) {
  BeFirstToEnd();
  LimitMemory(memory_bytes);
  // Whatever a library prints is no message.
  to = fcntl(to, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  Parent& parent = *new Parent(from, to);
  ThreadPool pool(std::max(1u, std::thread::hardware_concurrency()));
  Environments environments(parent, pool);
  while (true) {
    const internal::Job job = parent.NextJob();
    internal::FromProcess message;
    *message.mutable_result() = DoJob(job, parent, environments, pool);
    message.mutable_result()->set_resident_bytes(ResidentBytes());
    parent.Send(message);
  }
}

}  // namespace hone::work
