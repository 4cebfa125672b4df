#include "work/work_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/process/frames.h"
#include "base/child_process.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "work/messages.h"
#include "work/parent_kernels.h"
#include "work/serve_work.h"

namespace hone::work {
namespace {

// How often a caller that waits asks whether it is to stop.
constexpr absl::Duration kPatrol = absl::Milliseconds(20);
absl::Duration Now() { return SystemClock().Monotonic(); }

}  // namespace

WorkProcess::~WorkProcess() { Kill(); }

absl::Status WorkProcess::Start() {
  if (running()) return absl::OkStatus();
  std::array<int, 2> ends;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return absl::InternalError("cannot make a pair of sockets");
  }
  const absl::StatusOr<pid_t> pid = StartChildProcess(
      {.program = options_.program,
       .arguments = {"work", absl::StrCat("--memory=", options_.memory_bytes)},
       .input = ends[1],
       .output = ends[1]});
  close(ends[1]);
  if (!pid.ok()) {
    close(ends[0]);
    return pid.status();
  }
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  pid_ = *pid;
  socket_ = ends[0];
  received_.clear();
  return absl::OkStatus();
}

void WorkProcess::Kill() {
  if (!running()) return;
  close(socket_);
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

bool WorkProcess::IsAlive() {
  if (!running()) return false;
  pollfd ended = {socket_, POLLRDHUP, 0};
  if (poll(&ended, 1, 0) > 0) Kill();
  return running();
}

absl::Status WorkProcess::Send(const internal::ToProcess& message,
                               absl::Duration end,
                               const std::function<bool()>& stop) {
  absl::Duration stop_began = absl::InfiniteDuration();
  const std::string frame = backends::Frame(message);
  absl::string_view rest = frame;
  while (!rest.empty()) {
    const ssize_t sent = send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      rest.remove_prefix(static_cast<size_t>(sent));
      continue;
    }
    if (errno != EAGAIN && errno != EINTR) {
      return absl::UnavailableError("the process that works is gone");
    }
    const absl::Duration now = Now();
    if (now >= end) {
      return absl::DeadlineExceededError(
          "the process that works does not take its job");
    }
    if (now >= stop_began + options_.stop_grace()) {
      return absl::CancelledError("stopped");
    }
    if (stop_began == absl::InfiniteDuration() && stop && stop()) {
      stop_began = now;
      continue;
    }
    pollfd writable = {socket_, POLLOUT, 0};
    poll(&writable, 1, static_cast<int>(absl::ToInt64Milliseconds(kPatrol)));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<internal::FromProcess>> WorkProcess::Receive() {
  while (true) {
    if (std::optional<std::string> bytes = backends::TakeMessage(received_)) {
      internal::FromProcess message;
      if (!message.ParseFromString(*bytes)) {
        Kill();
        return tuning::ProcessFailure(absl::InternalError(
            "the process that did the work sends no message"));
      }
      return message;
    }
    pollfd readable = {socket_, POLLIN, 0};
    if (poll(&readable, 1,
             static_cast<int>(absl::ToInt64Milliseconds(kPatrol))) <= 0) {
      return std::nullopt;
    }
    if (!backends::ReadSome(socket_, received_)) return DescribeEnd();
  }
}

absl::Status WorkProcess::DescribeEnd() {
  close(socket_);
  int status = 0;
  // It has closed its end, so it is ending. If it is not, it has to.
  kill(pid_, SIGKILL);
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kOutOfMemory) {
    return tuning::ProcessFailure(absl::ResourceExhaustedError(
        options_.memory_bytes == 0
            ? "the work needs more memory than there is"
            : absl::StrCat("the work needs more than ",
                           options_.memory_bytes >> 20, " MiB of memory")));
  }
  // A system that runs out of memory kills this process first.
  const bool may_lack_memory =
      WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  const std::string how =
      WIFSIGNALED(status) ? absl::StrCat("signal ", WTERMSIG(status), ", ",
                                         strsignal(WTERMSIG(status)))
                          : absl::StrCat("exit status ", WEXITSTATUS(status));
  return tuning::ProcessFailure(absl::InternalError(
      absl::StrCat("the process that did the work ended by ", how,
                   may_lack_memory ? ", maybe as memory ran out" : "")));
}

absl::StatusOr<internal::Result> WorkProcess::Run(const internal::Job& job,
                                                  const WorkEvents& events,
                                                  absl::Duration limit) {
  const absl::Duration end = Now() + limit;
  // One that died while it was idle is not the job's fault.
  if (!IsAlive()) HONE_RETURN_IF_ERROR(Start());
  internal::ToProcess message;
  *message.mutable_job() = job;
  const absl::Status sent = Send(message, end, events.search.stop);
  if (absl::IsUnavailable(sent)) return DescribeEnd();
  if (!sent.ok()) {
    Kill();
    return absl::IsCancelled(sent) ? sent : tuning::ProcessFailure(sent);
  }
  absl::StatusOr<internal::Result> result = Converse(events, end, limit);
  if (result.ok() && result->resident_bytes() > options_.max_idle_bytes) Kill();
  if (result.ok() && result->has_error()) return FromProto(result->error());
  return result;
}

absl::StatusOr<internal::Result> WorkProcess::Converse(const WorkEvents& events,
                                                       absl::Duration end,
                                                       absl::Duration limit) {
  absl::Duration last_heard = Now();
  // Why the job is to stop, and since when.
  absl::Status stopped;
  absl::Duration stop_began = absl::InfiniteDuration();
  const auto is_to_stop = [&] {
    return events.search.stop && events.search.stop();
  };
  const auto stop = [&](const absl::Status& why) {
    stopped = why;
    stop_began = Now();
    internal::ToProcess message;
    message.set_stop(true);
    (void)Send(message, stop_began + options_.stop_grace());
  };
  while (true) {
    HONE_ASSIGN_OR_RETURN(std::optional<internal::FromProcess> message,
                          Receive());
    if (stopped.ok() && is_to_stop()) stop(absl::CancelledError("stopped"));
    if (message.has_value()) {
      switch (message->kind_case()) {
        case internal::FromProcess::kProgress:
          if (events.search.progress && stopped.ok()) {
            events.search.progress(FromProto(message->progress()));
          }
          break;
        case internal::FromProcess::kTrial:
          if (events.search.on_trial && (stopped.ok() || is_to_stop())) {
            const absl::Status kept =
                events.search.on_trial(FromProto(message->trial()));
            if (!kept.ok() && stopped.ok()) stop(kept);
          }
          break;
        case internal::FromProcess::kCall: {
          internal::ToProcess reply;
          if (events.kernels == nullptr) {
            ToProto(absl::UnavailableError("there is no device"),
                    *reply.mutable_answer()->mutable_error());
          } else {
            *reply.mutable_answer() =
                AnswerCall(message->call(), *events.kernels, is_to_stop);
          }
          (void)Send(reply, std::min(end, Now() + absl::Seconds(10)));
          break;
        }
        case internal::FromProcess::kResult:
          if (!stopped.ok()) return stopped;
          return std::move(*message->mutable_result());
        case internal::FromProcess::KIND_NOT_SET:
          break;
      }
      last_heard = Now();
    }
    if (Now() - last_heard > options_.silence) {
      Kill();
      return tuning::ProcessFailure(absl::DeadlineExceededError(
          absl::StrCat("the work hangs: nothing was heard of it for ",
                       absl::FormatDuration(options_.silence))));
    }
    if (Now() >= stop_began + options_.stop_grace()) {
      Kill();
      return stopped;
    }
    if (Now() >= end) {
      Kill();
      return tuning::ProcessFailure(absl::DeadlineExceededError(absl::StrCat(
          "the work takes more than ", absl::FormatDuration(limit))));
    }
  }
}

}  // namespace hone::work
