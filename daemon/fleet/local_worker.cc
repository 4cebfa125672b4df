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
#include <spdlog/spdlog.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child_process.h"
#include "base/clock.h"

namespace hone::daemon {
namespace {

// Before a worker that died is started again; doubled each time, up to the
// last, unless it has lived longer than that.
constexpr absl::Duration kFirstPause = absl::Milliseconds(200);
constexpr absl::Duration kLastPause = absl::Seconds(30);
// After which a worker that was asked to leave is killed.
constexpr absl::Duration kTimeToLeave = absl::Seconds(3);

}  // namespace

std::string LocalWorker::BinaryBesideThis() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path binary = self.parent_path() / "hone";
  return !error && fs::exists(binary, error) ? binary.string() : "";
}

LocalWorker::LocalWorker(std::string program, std::string server, bool log_json)
    : program_(std::move(program)),
      server_(std::move(server)),
      log_json_(log_json),
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
  std::vector<std::string> arguments = {"worker", "--connect", server_,
                                        "--until-eof"};
  if (log_json_) arguments.push_back("--log-json");
  // Its output goes where the daemon's log goes.
  const absl::StatusOr<pid_t> pid =
      StartChildProcess({.program = program_,
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
  // Not reaped before pid_ is forgotten, so that it names no other process.
  siginfo_t end;
  while (waitid(P_PID, static_cast<id_t>(*pid), &end, WEXITED | WNOWAIT) < 0 &&
         errno == EINTR) {
  }
  absl::MutexLock lock(&mu_);
  waitpid(*pid, nullptr, 0);
  pid_ = -1;
  if (stdin_ >= 0) close(std::exchange(stdin_, -1));
}

}  // namespace hone::daemon
