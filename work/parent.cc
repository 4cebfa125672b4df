#include "work/parent.h"

#include <utility>

#include <unistd.h>

#include "backends/process/frames.h"
#include "base/status_macros.h"
#include "work/messages.h"

namespace hone::work {

Parent::Parent(int from, int to)
    : from_(from), to_(to), reader_([this] { ReadMessages(); }) {}

void Parent::ReadMessages() {
  std::string received;
  while (true) {
    while (std::optional<std::string> bytes = backends::TakeMessage(received)) {
      internal::ToProcess message;
      // Only another version of this program could send anything else.
      if (!message.ParseFromString(*bytes)) _exit(2);
      Receive(std::move(message));
    }
    if (!backends::ReadSome(from_, received)) _exit(0);
  }
}

void Parent::Receive(internal::ToProcess message) {
  absl::MutexLock lock(&mu_);
  switch (message.kind_case()) {
    case internal::ToProcess::kJob:
      stopped_ = false;
      answer_.reset();
      jobs_.push_back(std::move(*message.mutable_job()));
      break;
    case internal::ToProcess::kAnswer:
      answer_ = std::move(*message.mutable_answer());
      break;
    case internal::ToProcess::kStop:
      stopped_ = true;
      break;
    case internal::ToProcess::KIND_NOT_SET:
      break;
  }
}

internal::Job Parent::NextJob() {
  absl::MutexLock lock(&mu_);
  mu_.Await(absl::Condition(
      +[](std::deque<internal::Job>* jobs) { return !jobs->empty(); }, &jobs_));
  internal::Job job = std::move(jobs_.front());
  jobs_.pop_front();
  return job;
}

void Parent::Send(const internal::FromProcess& message) {
  const std::string frame = backends::Frame(message);
  absl::MutexLock lock(&write_mu_);
  if (!backends::WriteAll(to_, frame).ok()) _exit(0);
}

absl::StatusOr<internal::Answer> Parent::Ask(const internal::Call& call) {
  absl::MutexLock one_call(&call_mu_);
  internal::FromProcess message;
  *message.mutable_call() = call;
  Send(message);
  absl::MutexLock lock(&mu_);
  const auto answered = [this]() ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    return answer_.has_value() || stopped_;
  };
  mu_.Await(absl::Condition(&answered));
  if (!answer_.has_value()) return absl::CancelledError("stopped");
  const internal::Answer answer = *std::exchange(answer_, std::nullopt);
  HONE_RETURN_IF_ERROR(FromProto(answer.error()));
  return answer;
}

}  // namespace hone::work
