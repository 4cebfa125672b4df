#include "backends/process/measure_process.h"

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/process/frames.h"
#include "base/child_process.h"
#include "base/clock.h"
#include "base/status_macros.h"

namespace hone::backends {
namespace {

// Within this time an idle process reads its work.
constexpr absl::Duration kReadsWork = absl::Seconds(20);
// Nothing that it sends is larger.
constexpr size_t kMaxCompletion = size_t{16} << 20;

}  // namespace

MeasureProcess::~MeasureProcess() { Kill(); }

absl::Status MeasureProcess::Spawn() {
  int to[2];
  int from[2];
  if (pipe2(to, O_CLOEXEC) != 0) {
    return absl::InternalError("cannot make a pipe");
  }
  if (pipe2(from, O_CLOEXEC) != 0) {
    close(to[0]);
    close(to[1]);
    return absl::InternalError("cannot make a pipe");
  }
  // OpenBLAS starts threads when it is loaded, unless it is told not to.
  const absl::StatusOr<pid_t> pid =
      StartChildProcess({.program = "/proc/self/exe",
                         .arguments = {"measure"},
                         .environment = {"OPENBLAS_NUM_THREADS=1"},
                         .input = to[0],
                         .output = from[1]});
  close(to[0]);
  close(from[1]);
  if (!pid.ok()) {
    close(to[1]);
    close(from[0]);
    return pid.status();
  }
  pid_ = *pid;
  to_ = to[1];
  fcntl(to_, F_SETFL, O_NONBLOCK);
  from_ = from[0];
  received_.clear();
  return absl::OkStatus();
}

absl::Status MeasureProcess::Start(const v1::Work& work) {
  if (work.kernel().fresh_process()) Kill();
  if (pid_ < 0) HONE_RETURN_IF_ERROR(Spawn());
  absl::Status status = WriteAll(to_, Frame(work), kReadsWork);
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
    if (received_.size() > kMaxCompletion) {
      Kill();
      return absl::InternalError(
          "the measuring process sends more than a result");
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
