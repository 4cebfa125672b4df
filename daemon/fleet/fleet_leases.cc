#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include <spdlog/spdlog.h>

#include "base/hash.h"
#include "base/status_macros.h"
#include "daemon/errors.h"
#include "daemon/fleet/check_request.h"
#include "daemon/fleet/fleet.h"
#include "daemon/fleet/fleet_job.h"
#include "daemon/limits.h"

// What workers of the fleet use: registration, leases, results.
namespace hone::daemon {
namespace {

// Results whose receipt may have been lost.
constexpr size_t kAcceptedKept = 1024;
// How many leases a worker may take to say that it has started.
constexpr int kLeasesToStart = 2;

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

// Returns the error that a worker reports; Internal for a completion that has
// neither an error nor a report, or an error without a code.
absl::Status ErrorOf(const v1::Completion& completion) {
  if (completion.has_kernel()) return absl::OkStatus();
  if (!completion.has_error()) {
    return absl::InternalError(
        "a worker ended its work with neither a report nor an error");
  }
  const google::rpc::Status& error = completion.error();
  if (error.code() > 0 &&
      error.code() <= static_cast<int>(absl::StatusCode::kUnauthenticated)) {
    return absl::Status(static_cast<absl::StatusCode>(error.code()),
                        error.message());
  }
  return absl::InternalError(absl::StrCat("a worker's error has the code ",
                                          error.code(), ": ", error.message()));
}

}  // namespace

absl::Status Fleet::CheckRegistration(const v1::SynchronizeRequest& request,
                                      absl::string_view client) const {
  const auto known = workers_.find(request.worker_id());
  if (known != workers_.end()) {
    const Worker& worker = known->second;
    if (worker.device.fingerprint() == request.device().fingerprint() &&
        worker.machine_name == request.machine()) {
      return absl::OkStatus();
    }
    return WithReason(
        absl::FailedPreconditionError(absl::StrCat(
            "worker ", request.worker_id(), " is connected with device ",
            worker.device.fingerprint(), " of machine \"", worker.machine_name,
            "\", expected a new id for another")),
        "WORKER_CHANGED");
  }
  if (draining_) return DrainingError();
  const auto of_client = workers_of_client_.find(client);
  const int64_t at_client =
      of_client == workers_of_client_.end() ? 0 : of_client->second;
  const bool is_full = static_cast<int64_t>(workers_.size()) >= kMaxWorkers;
  if (!is_full && at_client < kMaxWorkersPerClient) return absl::OkStatus();
  metrics_.RpcRejected("too_many_workers").Increment();
  return WithRetryDelay(
      AtLimit(
          is_full ? "workers" : "workers_per_client",
          absl::StrCat(workers_.size(), " workers are connected, ", at_client,
                       " of them from this address, expected less than ",
                       kMaxWorkers, " and ", kMaxWorkersPerClient)),
      options_.lease);
}

Fleet::Worker& Fleet::Register(const v1::SynchronizeRequest& request,
                               absl::string_view client) {
  const auto [entry, is_new] = workers_.try_emplace(request.worker_id());
  Worker& worker = entry->second;
  worker.device = request.device();
  worker.last_seen = clock_.Monotonic();
  if (!is_new) return worker;
  worker.client = std::string(client);
  worker.machine_name = request.machine();
  // No machine has the name of a worker without one: names have no slash.
  worker.machine = absl::StrCat(
      client, "/", request.machine(),
      request.machine().empty() ? absl::StrCat("/", request.worker_id()) : "");
  standings_.Introduce(worker.machine, client, worker.last_seen);
  ++workers_of_client_[worker.client];
  next_expiry_ = std::min(next_expiry_, worker.last_seen + options_.lease);
  CountQuarantined();
  return worker;
}

void Fleet::Unregister(absl::string_view worker_id) {
  const auto it = workers_.find(worker_id);
  const auto client = workers_of_client_.find(it->second.client);
  if (--client->second == 0) workers_of_client_.erase(client);
  const auto waiter = work_waiters_.find(it->second.waiter);
  if (waiter != work_waiters_.end()) {
    waiter->second.waker->Fire();
    work_waiters_.erase(waiter);
  }
  workers_.erase(it);
  CountQuarantined();
}

absl::StatusOr<v1::SynchronizeResponse> Fleet::Synchronize(
    const v1::SynchronizeRequest& request, absl::string_view client) {
  HONE_RETURN_IF_ERROR(CheckRequest(request, options_.version));
  absl::MutexLock lock(&mu_);
  ExpireLocked();
  HONE_RETURN_IF_ERROR(CheckRegistration(request, client));
  const std::string& id = request.worker_id();
  Worker& worker = Register(request, client);

  v1::SynchronizeResponse response;
  response.mutable_lease_duration()->set_seconds(
      absl::ToInt64Seconds(options_.lease));
  for (const v1::Completion& completion : request.completions()) {
    v1::SynchronizeResponse::Receipt& receipt = *response.add_receipts();
    *receipt.mutable_lease() = completion.lease();
    receipt.set_accepted(Accept(id, completion));
  }
  if (request.has_leaving()) {
    if (worker.job != nullptr) LoseLease(*worker.job, Loss::kLeft);
    Unregister(id);
    UpdateGauges();
    response.mutable_idle();
    return response;
  }
  if (draining_) return DrainingError();
  WakeDeviceWaiters(worker);

  // A lease that the worker does not know of (its response was lost) is given
  // again; one that it does not have any more is not renewed.
  if (worker.job == nullptr && request.has_idle()) {
    std::shared_ptr<Job> job = MakeCanary(worker);
    if (job == nullptr) job = TakeWork(worker);
    if (job != nullptr) Grant(*job, id);
  }
  const bool is_executing =
      worker.job != nullptr && request.has_executing() &&
      request.executing().lease().fence() == worker.job->fence &&
      request.executing().lease().work_id() == worker.job->id;
  if (worker.job != nullptr && (request.has_idle() || is_executing)) {
    Job& job = *worker.job;
    job.started |= is_executing;
    job.lease_end = clock_.Monotonic() + options_.lease;
    v1::SynchronizeResponse::Execute& execute = *response.mutable_execute();
    execute.mutable_lease()->set_work_id(job.id);
    execute.mutable_lease()->set_fence(job.fence);
    if (request.has_idle()) *execute.mutable_work() = job.request.work;
  } else {
    response.mutable_idle();
  }
  UpdateGauges();
  return response;
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
  if (!Judge(*job, workers_.at(worker_id), completion)) {
    CountQuarantined();
    return false;
  }
  accepted_.emplace_back(lease.fence(), lease.work_id());
  if (accepted_.size() > kAcceptedKept) accepted_.pop_front();
  return true;
}

bool Fleet::Judge(Job& job, const Worker& worker,
                  const v1::Completion& completion) {
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
    CountQuarantined();
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
    if (job.claim.has_value() || Fits(worker, job)) {
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
  Fault fault = Fault::kFailure;
  if (error.ok() && job.request.check) {
    error = job.request.check(completion);
    fault = Fault::kMalformedReport;
  }
  if (!error.ok()) {
    spdlog::warn("worker {} failed: {}", job.worker, error.ToString());
    standings_.Mark(machine, fault, error.message(), now);
    job.avoided.push_back(machine);
    TryAgain(job, absl::InternalError(error.message()));
    return false;
  }
  if (job.claim.has_value()) {
    standings_.Mark(job.claimed_by, Fault::kFailure,
                    absl::StrCat("an error that others do not have: ",
                                 job.claim->message()),
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
  if (worker != workers_.end()) worker->second.job = nullptr;
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

std::shared_ptr<Fleet::Job> Fleet::TakeWork(const Worker& worker) {
  for (auto it = queue_.begin(); it != queue_.end(); ++it) {
    if (!Fits(worker, **it)) continue;
    std::shared_ptr<Job> job = *it;
    queue_.erase(it);
    return job;
  }
  return nullptr;
}

std::shared_ptr<Fleet::Job> Fleet::MakeCanary(const Worker& worker) {
  const absl::Duration now = clock_.Monotonic();
  if (!standings_.IsCanaryDue(worker.machine, now)) return nullptr;
  standings_.BeginCanary(worker.machine, now);
  auto job = std::make_shared<Job>();
  job->id = RandomUuid();
  job->is_canary = true;
  job->request.work =
      options_.canary.make(static_cast<uint64_t>(last_fence_ + 1));
  job->request.limit = options_.canary.limit;
  jobs_[job->id] = job;
  return job;
}

void Fleet::Grant(Job& job, absl::string_view worker_id) {
  Worker& worker = workers_.at(worker_id);
  worker.job = jobs_.at(job.id);
  ++job.attempts;
  job.fence = ++last_fence_;
  job.worker = std::string(worker_id);
  job.granted = clock_.Monotonic();
  job.lease_end = job.granted + options_.lease;
  job.started = false;
  job.woken = 0;
  next_expiry_ = std::min(
      next_expiry_, job.granted + std::min(options_.lease, job.request.limit));
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
    if (worker.job == nullptr && end < now) {
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
    const bool has_work =
        draining_ || found == workers_.end() ||
        standings_.IsCanaryDue(found->second.machine, clock_.Monotonic()) ||
        absl::c_any_of(
            queue_, [&](const auto& job) { return Fits(found->second, *job); });
    if (has_work) {
      waker->Fire();
    } else {
      id = ++last_waiter_;
      const auto last = work_waiters_.find(found->second.waiter);
      if (last != work_waiters_.end()) {
        last->second.waker->Fire();
        work_waiters_.erase(last);
      }
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
    if (worker == workers_.end() || !Fits(worker->second, job)) continue;
    job.woken = it->first;
    it->second.waker->Fire();
    work_waiters_.erase(it);
    UpdateGauges();
    return;
  }
}

}  // namespace hone::daemon
