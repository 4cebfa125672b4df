#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include <spdlog/spdlog.h>

#include "base/hash.h"
#include "base/status_macros.h"
#include "base/trace_context.h"
#include "daemon/errors.h"
#include "daemon/fleet/check_request.h"
#include "daemon/fleet/fleet.h"
#include "daemon/fleet/fleet_job.h"
#include "proto/worker_protocol.h"

// What workers of the fleet use: leases, results.
namespace hone::daemon {
namespace {

// Results whose receipt may have been lost.
constexpr size_t kAcceptedKept = 1024;
// How many leases a worker may take to say that it has started.
constexpr int kLeasesToStart = 2;
// The machines that may fail at a piece of work that others have not tried, and
// the times that leaving workers may give it back, before that counts as an
// attempt.
constexpr size_t kMostFailing = 8;
constexpr int kMostReturns = 8;

// Returns true for errors that, by the protocol, are the work's and not the
// worker's.
bool IsErrorOfWork(const absl::Status& error) {
  switch (error.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kUnimplemented:
      return true;
    default:
      return false;
  }
}

// Returns the error that a worker reports.
absl::Status ErrorOf(const v1::Completion& completion) {
  if (completion.has_kernel()) return absl::OkStatus();
  const google::rpc::Status& error = completion.error();
  if (error.code() > 0 &&
      error.code() <= static_cast<int>(absl::StatusCode::kUnauthenticated)) {
    return absl::Status(static_cast<absl::StatusCode>(error.code()),
                        error.message());
  }
  return absl::InternalError(
      completion.has_error()
          ? absl::StrCat("a worker's error has the code ", error.code(), ": ",
                         error.message())
          : "a worker ended its work with neither a report nor an error");
}

// Returns the lease that the worker executes on a device; null if it is idle.
const v1::Lease* FindExecuting(const v1::SynchronizeRequest& request,
                               size_t device) {
  const auto lease =
      absl::c_find_if(request.executing(), [&](const v1::Lease& held) {
        return held.device() == static_cast<int32_t>(device);
      });
  return lease == request.executing().end() ? nullptr : &*lease;
}

}  // namespace

absl::StatusOr<v1::SynchronizeResponse> Fleet::Synchronize(
    const v1::SynchronizeRequest& request, const WorkerCaller& caller) {
  HONE_RETURN_IF_ERROR(CheckRequest(request));
  absl::MutexLock lock(&mu_);
  ExpireLocked();
  HONE_RETURN_IF_ERROR(CheckRegistration(request, caller));
  const std::string& id = request.worker_id();
  Worker& worker = Register(request, caller);

  v1::SynchronizeResponse response;
  response.mutable_lease_duration()->set_seconds(
      absl::ToInt64Seconds(options_.lease));
  for (const v1::Completion& completion : request.completions()) {
    v1::SynchronizeResponse::Receipt& receipt = *response.add_receipts();
    *receipt.mutable_lease() = completion.lease();
    receipt.set_accepted(Accept(id, completion));
  }
  if (request.state() == v1::SynchronizeRequest::LEAVING) {
    GiveBack(worker);
    Unregister(id);
    UpdateGauges();
    return response;
  }
  if (draining_) return DrainingError();
  response.set_drain(worker.is_to_drain);
  WakeDeviceWaiters(worker);
  UpdateLeases(request, worker, response);
  UpdateGauges();
  return response;
}

void Fleet::GiveBack(Worker& worker) {
  for (const Slot& slot : worker.slots) {
    if (slot.job != nullptr) LoseLease(*slot.job, Loss::kLeft);
  }
}

void Fleet::UpdateLeases(const v1::SynchronizeRequest& request, Worker& worker,
                         v1::SynchronizeResponse& response) {
  for (size_t device = 0; device < worker.slots.size(); ++device) {
    Slot& slot = worker.slots[device];
    const v1::Lease* const executing = FindExecuting(request, device);
    if (slot.job == nullptr && executing == nullptr && !worker.drains()) {
      std::shared_ptr<Job> job = MakeCanary(worker);
      if (job == nullptr && !worker.HasCanary()) {
        job = TakeWork(worker, slot.device);
      }
      if (job != nullptr) Grant(*job, request.worker_id(), device);
    }
    if (slot.job == nullptr) continue;
    Job& job = *slot.job;
    if (executing == nullptr && worker.is_draining) {
      // It never learned of the lease.
      LoseLease(job, Loss::kLeft);
      continue;
    }
    const bool is_executing = executing != nullptr &&
                              executing->fence() == job.fence &&
                              executing->work_id() == job.id;
    // A lease that the worker does not know of (its response was lost) is given
    // again; one that it does not have any more is not renewed.
    if (executing != nullptr && !is_executing) continue;
    job.started |= is_executing;
    job.lease_end = clock_.Monotonic() + options_.lease;
    v1::SynchronizeResponse::Execute& execute = *response.add_execute();
    execute.mutable_lease()->set_work_id(job.id);
    execute.mutable_lease()->set_fence(job.fence);
    execute.mutable_lease()->set_device(static_cast<int32_t>(device));
    if (!is_executing) *execute.mutable_work() = job.request.work;
  }
}

bool Fleet::Accept(absl::string_view worker_id,
                   const v1::Completion& completion) {
  const v1::Lease& lease = completion.lease();
  if (absl::c_any_of(accepted_, [&](const auto& known) {
        return known.first == lease.fence() && known.second == lease.work_id();
      })) {
    return true;
  }
  const auto found = jobs_.find(lease.work_id());
  if (found == jobs_.end() || found->second->fence != lease.fence() ||
      found->second->worker != worker_id) {
    metrics_.fenced_results.Increment();
    return false;
  }
  const std::shared_ptr<Job> job = found->second;
  const bool is_accepted = Judge(*job, workers_.at(worker_id), completion);
  CountQuarantined();
  if (!is_accepted) return false;
  accepted_.emplace_back(lease.fence(), lease.work_id());
  if (accepted_.size() > kAcceptedKept) accepted_.pop_front();
  return true;
}

bool Fleet::Judge(Job& job, const Worker& worker,
                  const v1::Completion& completion) {
  const TraceScope trace(job.request.work.traceparent());
  const absl::Duration now = clock_.Monotonic();
  const std::string machine = worker.machine;
  if (job.is_canary) {
    const CanaryResult result = options_.canary.judge(completion);
    standings_.EndCanary(machine, result.verdict, result.detail, now);
    if (result.verdict != CanaryVerdict::kPassed) {
      spdlog::warn("worker {} and a known kernel: {}", job.worker,
                   result.detail);
    }
    Forget(job);
    WakeDeviceWaiters(worker);
    return true;
  }
  if (!standings_.IsTrusted(machine, now)) {
    // Quarantined since it took the work.
    job.avoided.push_back(machine);
    TryAgain(job, absl::InternalError("the worker has been quarantined"));
    return false;
  }
  standings_.CountWork(machine, now);
  absl::Status error = ErrorOf(completion);
  if (IsErrorOfWork(error)) {
    // One worker alone must not end a tuning if there is another to ask.
    job.avoided.push_back(machine);
    if (job.claim.has_value() || !HasWorkerFor(job, /*even_avoided=*/false)) {
      Finish(job, std::move(error));
      return true;
    }
    job.claim = std::move(error);
    job.claimed_by = machine;
    EndLease(job);
    queue_.push_front(jobs_.at(job.id));
    WakeFor(job);
    return true;
  }
  if (error.ok() && job.request.check) {
    error = job.request.check(completion);
    if (!error.ok()) {
      standings_.Mark(machine, Fault::kMalformedReport, error.message(), now);
      job.avoided.push_back(machine);
    }
  } else if (!error.ok()) {
    // Its fault only if another machine can do this work; whether it can do
    // any, a canary shows before it spoils more.
    job.failed_by[machine] = std::string(error.message());
    standings_.WantCanary(machine, now);
    job.avoided.push_back(machine);
    // Machines that fail are idle before those that work, and must not end what
    // these can do.
    if (job.failed_by.size() < kMostFailing &&
        HasWorkerFor(job, /*even_avoided=*/false)) {
      --job.attempts;
    }
  }
  if (!error.ok()) {
    spdlog::warn("worker {} failed: {}", job.worker,
                 absl::CEscape(error.ToString()));
    TryAgain(job, absl::InternalError(error.message()));
    return false;
  }
  if (job.claim.has_value()) {
    job.failed_by[job.claimed_by] = std::string(job.claim->message());
  }
  for (const auto& [failed, message] : job.failed_by) {
    if (failed == machine) continue;
    standings_.Mark(failed, Fault::kFailure,
                    absl::StrCat("an error that others do not have: ", message),
                    now);
  }
  Finish(job, Result{completion, job.worker, machine});
  return true;
}

void Fleet::Finish(Job& job, absl::StatusOr<Result> result) {
  job.result = std::move(result);
  Forget(job);
}

void Fleet::EndLease(Job& job) {
  if (job.fence == 0) return;
  const auto worker = workers_.find(job.worker);
  if (worker != workers_.end()) worker->second.slots[job.device].job = nullptr;
  job.fence = 0;
  job.worker.clear();
}

void Fleet::Forget(Job& job) {
  EndLease(job);
  const auto queued = absl::c_find_if(
      queue_, [&](const auto& other) { return other.get() == &job; });
  if (queued != queue_.end()) queue_.erase(queued);
  if (job.module != nullptr) {
    job.module = nullptr;
    absl::erase_if(modules_,
                   [](const auto& entry) { return entry.second.expired(); });
  }
  jobs_.erase(job.id);
  UpdateGauges();
}

std::shared_ptr<Fleet::Job> Fleet::TakeWork(const Worker& worker,
                                            const v1::Device& device) {
  for (auto it = queue_.begin(); it != queue_.end(); ++it) {
    if (!Fits(worker, device, **it)) continue;
    std::shared_ptr<Job> job = *it;
    queue_.erase(it);
    return job;
  }
  return nullptr;
}

bool Fleet::IsCanaryDue(const Worker& worker) const {
  return standings_.IsCanaryDue(worker.machine, clock_.Monotonic()) &&
         absl::c_linear_search(worker.capabilities, kKernelWork) &&
         !worker.drains();
}

std::shared_ptr<Fleet::Job> Fleet::MakeCanary(const Worker& worker) {
  if (!IsCanaryDue(worker)) return nullptr;
  standings_.BeginCanary(worker.machine, clock_.Monotonic());
  auto job = std::make_shared<Job>();
  job->id = RandomUuid();
  job->is_canary = true;
  job->request.work =
      options_.canary.make(static_cast<uint64_t>(last_fence_ + 1));
  job->request.limit = options_.canary.limit;
  jobs_[job->id] = job;
  return job;
}

void Fleet::Grant(Job& job, absl::string_view worker_id, size_t device) {
  workers_.at(worker_id).slots[device].job = jobs_.at(job.id);
  ++job.attempts;
  job.fence = ++last_fence_;
  job.worker = std::string(worker_id);
  job.device = device;
  job.granted = clock_.Monotonic();
  job.lease_end = job.granted + options_.lease;
  job.started = false;
  job.woken = 0;
  next_expiry_ = std::min(
      next_expiry_, job.granted + std::min(options_.lease, job.request.limit));
  const TraceScope trace(job.request.work.traceparent());
  spdlog::debug("worker {} gets work {}", job.worker, job.id);
}

void Fleet::TryAgain(Job& job, const absl::Status& error) {
  EndLease(job);
  if (job.attempts >= options_.max_attempts) {
    // Work that several machines lose is at fault itself.
    std::vector<std::string> machines = job.lost_by;
    absl::c_sort(machines);
    if (!machines.empty() && machines.front() != machines.back()) {
      for (const std::string& machine : machines) {
        standings_.Unmark(machine, Fault::kLostLease);
      }
    }
    Finish(job, error);
    return;
  }
  queue_.push_front(jobs_.at(job.id));
  WakeFor(job);
}

void Fleet::LoseLease(Job& job, Loss loss) {
  const TraceScope trace(job.request.work.traceparent());
  const Worker& worker = workers_.at(job.worker);
  const std::string machine = worker.machine;
  const absl::Duration now = clock_.Monotonic();
  absl::string_view what;
  switch (loss) {
    case Loss::kSilent:
      metrics_.leases_expired.Increment();
      what = "it fell silent with work";
      break;
    case Loss::kNotStarted:
      metrics_.LeasesGivenUp("not_started").Increment();
      what = "it took work and did not start it";
      break;
    case Loss::kNoProgress:
      metrics_.LeasesGivenUp("no_progress").Increment();
      what = "it did not end its work in time";
      break;
    case Loss::kLeft:
      // No fault of the work, and others are there longer.
      job.avoided.push_back(machine);
      if (++job.returns <= kMostReturns) --job.attempts;
      break;
  }
  // The job outlives jobs_ by what keeps it here.
  const std::shared_ptr<Job> kept = jobs_.at(job.id);
  if (!what.empty()) {
    spdlog::warn("worker {} loses its lease: {}", job.worker,
                 std::string(what));
    standings_.Mark(machine, Fault::kLostLease, what, now);
    job.avoided.push_back(machine);
    job.lost_by.push_back(machine);
    CountQuarantined();
  }
  if (job.is_canary) {
    standings_.AbandonCanary(machine);
    Forget(job);
    return;
  }
  TryAgain(job, absl::InternalError(absl::StrCat("the work was lost with ",
                                                 job.attempts, " workers")));
}

void Fleet::Expire() {
  absl::MutexLock lock(&mu_);
  ExpireLocked();
}

void Fleet::ExpireLocked() {
  const absl::Duration now = clock_.Monotonic();
  if (now < next_expiry_) return;
  std::vector<std::pair<std::shared_ptr<Job>, Loss>> lost;
  absl::Duration next = absl::InfiniteDuration();
  for (const auto& [_, job] : jobs_) {
    if (job->fence == 0) continue;
    const absl::Duration end = job->granted + job->request.limit;
    const absl::Duration start =
        job->started ? absl::InfiniteDuration()
                     : job->granted + kLeasesToStart * options_.lease;
    if (job->lease_end < now) {
      lost.emplace_back(job, Loss::kSilent);
    } else if (end < now) {
      lost.emplace_back(job, Loss::kNoProgress);
    } else if (start < now) {
      lost.emplace_back(job, Loss::kNotStarted);
    } else {
      next = std::min({next, job->lease_end, end, start});
    }
  }
  // In the order of their leases, so that a simulation replays.
  absl::c_sort(lost, [](const auto& a, const auto& b) {
    return a.first->fence < b.first->fence;
  });
  for (const auto& [job, loss] : lost) LoseLease(*job, loss);
  std::vector<std::string> gone;
  for (const auto& [id, worker] : workers_) {
    const absl::Duration end = worker.last_seen + options_.lease;
    if (!worker.HasWork() && end < now) {
      gone.push_back(id);
    } else {
      next = std::min(next, std::max(end, now));
    }
  }
  for (const std::string& id : gone) Unregister(id);
  next_expiry_ = next;
  CountQuarantined();
  UpdateGauges();
}

std::shared_ptr<void> Fleet::WaitForWork(absl::string_view worker_id,
                                         std::function<void()> wake) {
  const auto waker = std::make_shared<Waker>(std::move(wake));
  int64_t id = 0;
  {
    absl::MutexLock lock(&mu_);
    const auto found = workers_.find(worker_id);
    const bool has_work = draining_ || found == workers_.end() ||
                          found->second.drains() ||
                          IsCanaryDue(found->second) ||
                          absl::c_any_of(queue_, [&](const auto& job) {
                            return FitsIdle(found->second, *job);
                          });
    if (has_work) {
      waker->Fire();
    } else {
      id = ++last_waiter_;
      EndWait(found->second);
      found->second.waiter = id;
      work_waiters_[id] = {std::string(worker_id), waker};
      UpdateGauges();
    }
  }
  return std::shared_ptr<void>(waker.get(), [this, waker, id](void*) {
    waker->Forget();
    EndWorkWait(id);
  });
}

void Fleet::EndWorkWait(int64_t id) {
  absl::MutexLock lock(&mu_);
  work_waiters_.erase(id);
  UpdateGauges();
  if (id == 0) return;
  // It was woken and ends without having taken the work: another gets a turn.
  for (const std::shared_ptr<Job>& job : queue_) {
    if (job->woken == id) WakeFor(*job);
  }
}

void Fleet::WakeFor(Job& job) {
  job.woken = 0;
  for (auto it = work_waiters_.begin(); it != work_waiters_.end(); ++it) {
    const auto worker = workers_.find(it->second.worker);
    if (worker == workers_.end() || !FitsIdle(worker->second, job)) continue;
    job.woken = it->first;
    it->second.waker->Fire();
    work_waiters_.erase(it);
    UpdateGauges();
    return;
  }
}

}  // namespace hone::daemon
