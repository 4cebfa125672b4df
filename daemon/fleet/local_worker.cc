#include "daemon/fleet/local_worker.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include <fcntl.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child_process.h"
#include "base/hash.h"

namespace hone::daemon {
namespace {

// Before a worker that died is started again; doubled each time, up to the
// last, unless it has lived longer than that.
constexpr absl::Duration kFirstPause = absl::Milliseconds(200);
constexpr absl::Duration kLastPause = absl::Seconds(30);
// After which a worker that was asked to leave is killed.
constexpr absl::Duration kTimeToLeave = absl::Seconds(3);
// How often it is asked whether the worker is connected.
constexpr absl::Duration kPatrol = absl::Milliseconds(200);

}  // namespace

std::string LocalWorker::BinaryBesideThis() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path binary = self.parent_path() / "hone";
  return !error && fs::exists(binary, error) ? binary.string() : "";
}

LocalWorker::LocalWorker(Options options, const Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      thread_([this] { KeepRunning(); }) {}

LocalWorker::~LocalWorker() {
  {
    absl::MutexLock lock(&mu_);
    ending_ = true;
    if (stdin_ >= 0) close(std::exchange(stdin_, -1));
    const auto gone = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      return pid_ < 0;
    };
    if (!mu_.AwaitWithTimeout(absl::Condition(&gone), kTimeToLeave)) {
      kill(pid_, SIGKILL);
    }
  }
  thread_.join();
}

void LocalWorker::KeepRunning() {
  absl::Duration pause = kFirstPause;
  for (;;) {
    const absl::Duration start = SystemClock().Monotonic();
    RunOnce();
    const absl::Duration lived = SystemClock().Monotonic() - start;
    pause = lived > kLastPause ? kFirstPause : std::min(2 * pause, kLastPause);
    absl::MutexLock lock(&mu_);
    if (mu_.AwaitWithTimeout(absl::Condition(&ending_), pause)) return;
    spdlog::warn("the local worker has ended; starting it again");
  }
}

void LocalWorker::RunOnce() {
  int input[2];
  if (pipe2(input, O_CLOEXEC) != 0) return;
  const std::string id = RandomUuid();
  std::vector<std::string> arguments = {"worker", "--connect", options_.server,
                                        "--id",   id,          "--until-eof"};
  if (options_.log_json) arguments.push_back("--log-json");
  // Its output goes where the daemon's log goes.
  const absl::StatusOr<pid_t> pid =
      StartChildProcess({.program = options_.program,
                         .arguments = std::move(arguments),
                         .input = input[0],
                         .output = STDERR_FILENO});
  close(input[0]);
  if (!pid.ok()) {
    close(input[1]);
    spdlog::error("{}", pid.status().ToString());
    return;
  }
  {
    absl::MutexLock lock(&mu_);
    pid_ = *pid;
    if (ending_) {
      close(input[1]);
    } else {
      stdin_ = input[1];
    }
  }
  AwaitEnd(*pid, id);
  absl::MutexLock lock(&mu_);
  waitpid(*pid, nullptr, 0);
  pid_ = -1;
  if (stdin_ >= 0) close(std::exchange(stdin_, -1));
}

void LocalWorker::AwaitEnd(int pid, absl::string_view id) {
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  absl::Duration heard = clock_.Monotonic();
  for (;;) {
    pollfd ended = {fd, POLLIN, 0};
    const int timeout =
        fd < 0 ? 0 : static_cast<int>(absl::ToInt64Milliseconds(kPatrol));
    if (poll(&ended, 1, timeout) > 0 || fd < 0) break;
    if (options_.is_connected(id)) heard = clock_.Monotonic();
    if (clock_.Monotonic() - heard > options_.longest_silence) {
      spdlog::warn("the local worker has been silent for {}; it is killed",
                   absl::FormatDuration(clock_.Monotonic() - heard));
      kill(pid, SIGKILL);
      break;
    }
  }
  if (fd >= 0) close(fd);
  // Not reaped before pid_ is forgotten, so that it names no other process.
  siginfo_t end;
  while (waitid(P_PID, static_cast<id_t>(pid), &end, WEXITED | WNOWAIT) < 0 &&
         errno == EINTR) {
  }
}

}  // namespace hone::daemon
