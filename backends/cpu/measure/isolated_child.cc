#include "backends/cpu/measure/isolated_child.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hone::backends {
namespace {

constexpr int64_t kPage = 4096;
constexpr int64_t kAlignment = 64;

int64_t RoundUp(int64_t bytes, int64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

// Returns the address space of this process in bytes; 0 if unknown.
int64_t AddressSpace() {
  std::ifstream statm("/proc/self/statm");
  int64_t pages = 0;
  statm >> pages;
  return pages * kPage;
}

[[noreturn]] void RunChild(const std::function<void()>& body,
                           const ChildLimits& limits, int64_t address_space) {
  // It dies with its parent, and a crash writes no core file.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const auto memory = static_cast<rlim_t>(address_space + limits.memory_bytes);
  const rlimit space = {memory, memory};
  setrlimit(RLIMIT_AS, &space);
  // Removes the crash handlers that the linker installs.
  for (int signal : {SIGINT, SIGTERM, SIGPIPE, SIGCHLD, SIGSEGV, SIGBUS, SIGILL,
                     SIGFPE, SIGABRT, SIGTRAP}) {
    ::signal(signal, SIG_DFL);
  }
  // A group of its own, so that processes that it starts are killed too.
  setpgid(0, 0);
  body();
  _exit(0);
}

// Waits for the child to exit; returns false on timeout.
absl::StatusOr<bool> AwaitEnd(pid_t child, absl::Duration timeout) {
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  if (fd < 0) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "cannot wait for a process: ", std::generic_category().message(errno)));
  }
  pollfd poll_fd = {fd, POLLIN, 0};
  const auto milliseconds =
      static_cast<int>(absl::ToInt64Milliseconds(timeout));
  int ready = 0;
  do {
    ready = poll(&poll_fd, 1, milliseconds);
  } while (ready < 0 && errno == EINTR);
  close(fd);
  return ready > 0;
}

// Kills the child, if it still runs, and the processes that it started.
void Kill(pid_t child) {
  kill(-child, SIGKILL);
  kill(child, SIGKILL);
}

// Converts the status of waitpid.
int Reap(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SharedMemory>> SharedMemory::Create(
    int64_t bytes) {
  const int64_t inner = RoundUp(std::max<int64_t>(bytes, 1), kPage);
  const int64_t mapped = inner + 2 * kPage;
  void* const mapping = mmap(nullptr, static_cast<size_t>(mapped), PROT_NONE,
                             MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "no ", bytes,
        " bytes of shared memory: ", std::generic_category().message(errno)));
  }
  auto* const start = static_cast<std::byte*>(mapping);
  if (mprotect(start + kPage, static_cast<size_t>(inner),
               PROT_READ | PROT_WRITE) != 0) {
    munmap(mapping, static_cast<size_t>(mapped));
    return absl::ResourceExhaustedError("shared memory cannot be used");
  }
  return std::unique_ptr<SharedMemory>(new SharedMemory(
      start, mapped, start + kPage + inner - RoundUp(bytes, kAlignment),
      bytes));
}

SharedMemory::~SharedMemory() {
  munmap(mapping_, static_cast<size_t>(mapped_bytes_));
}

absl::StatusOr<ChildOutcome> RunInChild(const std::function<void()>& body,
                                        const ChildLimits& limits) {
  const int64_t address_space = AddressSpace();
  const pid_t child = fork();
  if (child < 0) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "cannot start a process: ", std::generic_category().message(errno)));
  }
  if (child == 0) RunChild(body, limits, address_space);

  const absl::StatusOr<bool> has_ended = AwaitEnd(child, limits.timeout);
  if (!has_ended.ok() || !*has_ended) Kill(child);
  const int status = Reap(child);
  if (!has_ended.ok()) return has_ended.status();
  ChildOutcome outcome;
  if (!*has_ended) {
    outcome.end = ChildEnd::kTimeout;
    outcome.message =
        absl::StrCat("not done after ", absl::FormatDuration(limits.timeout));
    return outcome;
  }
  if (WIFSIGNALED(status)) {
    outcome.end = ChildEnd::kCrashed;
    outcome.message = absl::StrCat("killed by signal ", WTERMSIG(status), " (",
                                   sigdescr_np(WTERMSIG(status)), ")");
  } else if (WEXITSTATUS(status) != 0) {
    outcome.end = ChildEnd::kCrashed;
    outcome.message = absl::StrCat("exit status ", WEXITSTATUS(status));
  }
  return outcome;
}

}  // namespace hone::backends
