#include "backends/process/measure_process.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/process/frames.h"
#include "base/clock.h"
#include "base/status_macros.h"

extern char** environ;

namespace hone::backends {

MeasureProcess::MeasureProcess(std::string program)
    : program_(std::move(program)) {}

MeasureProcess::~MeasureProcess() { Kill(); }

absl::Status MeasureProcess::Spawn() {
  int to[2];
  int from[2];
  if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) {
    return absl::InternalError("cannot make a pipe");
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
  std::string program = program_;
  std::string command = "measure";
  char* argv[] = {program.data(), command.data(), nullptr};
  // OpenBLAS starts threads when it is loaded, unless it is told not to.
  std::string one_thread = "OPENBLAS_NUM_THREADS=1";
  std::vector<char*> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!absl::StartsWith(*entry, "OPENBLAS_NUM_THREADS=")) {
      environment.push_back(*entry);
    }
  }
  environment.push_back(one_thread.data());
  environment.push_back(nullptr);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, program.c_str(), &actions, nullptr, argv,
                                environment.data());
  posix_spawn_file_actions_destroy(&actions);
  close(to[0]);
  close(from[1]);
  if (error != 0) {
    close(to[1]);
    close(from[0]);
    return absl::InternalError(
        absl::StrCat("cannot start hone measure: ", std::strerror(error)));
  }
  pid_ = pid;
  to_ = to[1];
  from_ = from[0];
  received_.clear();
  return absl::OkStatus();
}

absl::Status MeasureProcess::Start(const v1::Work& work) {
  if (work.kernel().fresh_process()) Kill();
  if (pid_ < 0) HONE_RETURN_IF_ERROR(Spawn());
  absl::Status status = WriteAll(to_, Frame(work));
  if (!status.ok()) Kill();
  return status;
}

absl::StatusOr<std::optional<v1::Completion>> MeasureProcess::Await(
    absl::Duration timeout) {
  const absl::Duration end = SystemClock().Monotonic() + timeout;
  for (;;) {
    if (std::optional<std::string> bytes = TakeMessage(received_)) {
      v1::Completion completion;
      if (completion.ParseFromString(*bytes)) return completion;
      Kill();
      return absl::InternalError("the measuring process sends no message");
    }
    const absl::Duration left = end - SystemClock().Monotonic();
    if (left <= absl::ZeroDuration()) return std::nullopt;
    pollfd ready = {from_, POLLIN, 0};
    const int events = poll(&ready, 1,
                            static_cast<int>(absl::ToInt64Milliseconds(
                                absl::Ceil(left, absl::Milliseconds(1)))));
    if (events > 0 && !ReadSome(from_, received_)) {
      Kill();
      return absl::InternalError("the measuring process has died");
    }
  }
}

void MeasureProcess::Kill() {
  if (pid_ < 0) return;
  close(to_);
  close(from_);
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

}  // namespace hone::backends
