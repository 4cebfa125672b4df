#include "backends/cpu/measure/isolated_child.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/status_macros.h"

namespace hone::backends {
namespace {

constexpr int64_t kPage = 4096;
constexpr int64_t kAlignment = 64;
// Descriptors of a child: the compiler reads a few files.
constexpr int64_t kMaxFiles = 64;

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

void SetLimit(__rlimit_resource resource, int64_t value) {
  const rlimit limit = {static_cast<rlim_t>(value), static_cast<rlim_t>(value)};
  setrlimit(resource, &limit);
}

// Nothing that the child prints is read, and a pipe of the parent's could be
// used to forge its messages.
void CloseDescriptors() {
  const int null = open("/dev/null", O_RDWR);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (null < 0 || dup2(null, standard) < 0) close(standard);
  }
  close_range(STDERR_FILENO + 1, ~0U, 0);
}

[[noreturn]] void RunChild(const std::function<void()>& body,
                           const ChildLimits& limits, int64_t address_space,
                           pid_t parent) {
  // It dies with its parent, even with one that is dead already.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  CloseDescriptors();
  // No core file, and no other. RLIMIT_NPROC is not among these, as it counts
  // all processes of the user; the sandbox forbids them.
  SetLimit(RLIMIT_CORE, 0);
  SetLimit(RLIMIT_FSIZE, 0);
  SetLimit(RLIMIT_NOFILE, kMaxFiles);
  SetLimit(RLIMIT_AS, address_space + limits.memory_bytes);
  // In case the parent, which watches the clock, is stopped.
  SetLimit(
      RLIMIT_CPU,
      1 + absl::ToInt64Seconds(absl::Ceil(limits.timeout, absl::Seconds(1))) *
              std::max<int64_t>(sysconf(_SC_NPROCESSORS_ONLN), 1));
  // Removes the crash handlers that the linker installs.
  for (int signal : {SIGINT, SIGTERM, SIGPIPE, SIGCHLD, SIGSEGV, SIGBUS, SIGILL,
                     SIGFPE, SIGABRT, SIGTRAP, SIGSYS, SIGXCPU, SIGXFSZ}) {
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

// Kills the child, if it still runs, and the processes that it started. Returns
// its status. Until it is reaped its number names no other group.
int KillAndReap(pid_t child) {
  kill(-child, SIGKILL);
  kill(child, SIGKILL);
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

void SharedMemory::MakeReadOnly() {
  mprotect(mapping_ + kPage, static_cast<size_t>(mapped_bytes_ - 2 * kPage),
           PROT_READ);
}

SharedMemory::~SharedMemory() {
  munmap(mapping_, static_cast<size_t>(mapped_bytes_));
}

absl::StatusOr<IsolatedChild> IsolatedChild::Start(
    const std::function<void()>& body, const ChildLimits& limits) {
  const int64_t address_space = AddressSpace();
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "cannot start a process: ", std::generic_category().message(errno)));
  }
  if (child == 0) RunChild(body, limits, address_space, parent);
  // Both set it, so that it is set whoever runs first.
  setpgid(child, child);
  return IsolatedChild(child, SystemClock().Monotonic() + limits.timeout,
                       limits.timeout);
}

IsolatedChild::IsolatedChild(IsolatedChild&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      end_(other.end_),
      timeout_(other.timeout_) {}

IsolatedChild::~IsolatedChild() {
  if (pid_ >= 0) KillAndReap(static_cast<pid_t>(pid_));
}

absl::StatusOr<ChildOutcome> IsolatedChild::Await() {
  const auto child = static_cast<pid_t>(std::exchange(pid_, -1));
  const absl::StatusOr<bool> has_ended = AwaitEnd(
      child, std::max(end_ - SystemClock().Monotonic(), absl::ZeroDuration()));
  const int status = KillAndReap(child);
  if (!has_ended.ok()) return has_ended.status();
  ChildOutcome outcome;
  if (!*has_ended) {
    outcome.end = ChildEnd::kTimeout;
    outcome.message =
        absl::StrCat("not done after ", absl::FormatDuration(timeout_));
    return outcome;
  }
  if (WIFSIGNALED(status)) {
    outcome.end = ChildEnd::kCrashed;
    outcome.message = absl::StrCat("killed by signal ", WTERMSIG(status), " (",
                                   sigdescr_np(WTERMSIG(status)), ")");
    if (WTERMSIG(status) == SIGSYS) {
      absl::StrAppend(&outcome.message, ": a forbidden system call");
    }
  } else if (WEXITSTATUS(status) != 0) {
    outcome.end = ChildEnd::kCrashed;
    outcome.message = absl::StrCat("exit status ", WEXITSTATUS(status));
  }
  return outcome;
}

absl::StatusOr<ChildOutcome> RunInChild(const std::function<void()>& body,
                                        const ChildLimits& limits) {
  HONE_ASSIGN_OR_RETURN(IsolatedChild child,
                        IsolatedChild::Start(body, limits));
  return child.Await();
}

}  // namespace hone::backends
