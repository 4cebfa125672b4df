#include "work/work_pool.h"

#include <utility>

#include "base/clock.h"
#include "base/status_macros.h"
#include "work/messages.h"

namespace hone::work {
namespace {

// How often a caller that waits for a process asks whether it is to stop.
constexpr absl::Duration kPatrol = absl::Milliseconds(20);

}  // namespace

WorkPool::WorkPool(const WorkProcessOptions& options, int size) {
  for (int i = 0; i < size; ++i) {
    free_.push_back(std::make_unique<WorkProcess>(options));
  }
}

absl::Status WorkPool::Start() {
  absl::MutexLock lock(&mu_);
  for (const auto& process : free_) HONE_RETURN_IF_ERROR(process->Start());
  return absl::OkStatus();
}

absl::StatusOr<internal::Result> WorkPool::Run(const internal::Job& job,
                                               const WorkEvents& events,
                                               absl::Duration limit) {
  const absl::Duration end = SystemClock().Monotonic() + limit;
  std::unique_ptr<WorkProcess> process;
  {
    absl::MutexLock lock(&mu_);
    const auto is_free = [this]() ABSL_SHARED_LOCKS_REQUIRED(mu_) {
      return !free_.empty();
    };
    while (!mu_.AwaitWithTimeout(absl::Condition(&is_free), kPatrol)) {
      if (events.search.stop && events.search.stop()) {
        return absl::CancelledError("stopped");
      }
      if (SystemClock().Monotonic() >= end) {
        return absl::DeadlineExceededError(
            "all processes that could do the work are busy");
      }
    }
    process = std::move(free_.back());
    free_.pop_back();
  }
  absl::StatusOr<internal::Result> result =
      process->Run(job, events, end - SystemClock().Monotonic());
  // The next job does not wait for a new process.
  if (!process->running()) process->Start().IgnoreError();
  absl::MutexLock lock(&mu_);
  free_.push_back(std::move(process));
  return result;
}

absl::StatusOr<tuning::Found> ProcessSearcher::Search(
    const tuning::SearchJob& job, const tuning::SearchEvents& events) {
  internal::Job message;
  ToProto(job, *message.mutable_search());
  HONE_ASSIGN_OR_RETURN(
      const internal::Result result,
      pool_.Run(message, {.search = events, .kernels = kernels_},
                absl::InfiniteDuration()));
  return FromProto(result.found());
}

}  // namespace hone::work
