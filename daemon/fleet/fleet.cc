#include "daemon/fleet/fleet.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"

#include "base/hash.h"
#include "base/status_macros.h"
#include "daemon/errors.h"

namespace hone::daemon {
namespace {

// Results whose receipt may have been lost.
constexpr size_t kAcceptedKept = 1024;
// How often a caller that waits asks whether it is to stop, and whether leases
// have run out.
constexpr absl::Duration kPatrol = absl::Milliseconds(100);

// The worker's report, or its error; Internal for a completion that has
// neither, or an error without a code.
absl::StatusOr<v1::Completion> ResultOf(const v1::Completion& completion) {
  switch (completion.result_case()) {
    case v1::Completion::kKernel:
      return completion;
    case v1::Completion::kError: {
      const google::rpc::Status& error = completion.error();
      if (error.code() > 0 &&
          error.code() <=
              static_cast<int>(absl::StatusCode::kUnauthenticated)) {
        return absl::Status(static_cast<absl::StatusCode>(error.code()),
                            error.message());
      }
      return absl::InternalError(absl::StrCat("a worker's error has the code ",
                                              error.code(), ": ",
                                              error.message()));
    }
    case v1::Completion::RESULT_NOT_SET:
      break;
  }
  return absl::InternalError(
      "a worker ended its work with neither a report nor an error");
}

absl::Status NobodyOffers(absl::string_view fingerprint) {
  return absl::UnavailableError(
      absl::StrCat("no worker offers a device",
                   fingerprint.empty() ? "" : absl::StrCat(" ", fingerprint),
                   ", expected one (hone worker --connect)"));
}

}  // namespace

struct Fleet::Job {
  std::string id;
  v1::Work work;
  std::string device_fingerprint;
  int attempts = 0;
  // While it is leased; 0 otherwise.
  int64_t fence = 0;
  std::string worker;
  absl::Duration lease_end;
  // Once it has ended.
  std::optional<absl::StatusOr<v1::Completion>> result;
};

struct Fleet::Waiter {
  absl::Mutex mu;
  std::function<void()> wake ABSL_GUARDED_BY(mu);

  void Fire() {
    absl::MutexLock lock(&mu);
    if (auto action = std::exchange(wake, nullptr)) action();
  }
};

Fleet::Fleet(const Clock& clock, Metrics& metrics, Options options)
    : clock_(clock), metrics_(metrics), options_(std::move(options)) {}

Fleet::~Fleet() = default;

absl::StatusOr<v1::Completion> Fleet::Run(const v1::Work& work,
                                          absl::string_view device_fingerprint,
                                          const StopPredicate& stop) {
  const auto job = std::make_shared<Job>();
  job->id = RandomUuid();
  job->work = work;
  job->device_fingerprint = std::string(device_fingerprint);

  absl::MutexLock lock(&mu_);
  if (!draining_) {
    jobs_[job->id] = job;
    queue_.push_back(job);
    UpdateGauges();
    WakeWaiters();
  }
  const auto ended = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return draining_ || job->result.has_value();
  };
  absl::Duration last_hope = clock_.Monotonic();
  while (!mu_.AwaitWithTimeout(absl::Condition(&ended), kPatrol)) {
    ExpireLocked();
    if (stop && stop()) {
      Forget(*job);
      return absl::CancelledError("stopped");
    }
    const absl::Duration now = clock_.Monotonic();
    if (FindDevice(device_fingerprint) != nullptr) last_hope = now;
    if (now - last_hope > options_.device_wait) {
      Forget(*job);
      return NobodyOffers(device_fingerprint);
    }
  }
  if (job->result.has_value()) return *std::move(job->result);
  Forget(*job);
  return DrainingError();
}

absl::StatusOr<v1::Device> Fleet::AwaitDevice(absl::string_view fingerprint,
                                              const StopPredicate& stop) {
  const absl::Duration end = clock_.Monotonic() + options_.device_wait;
  absl::MutexLock lock(&mu_);
  const auto found = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return draining_ || FindDevice(fingerprint) != nullptr;
  };
  while (!mu_.AwaitWithTimeout(absl::Condition(&found), kPatrol)) {
    if (stop && stop()) return absl::CancelledError("stopped");
    if (clock_.Monotonic() >= end) return NobodyOffers(fingerprint);
  }
  if (draining_) return DrainingError();
  return *FindDevice(fingerprint);
}

absl::StatusOr<v1::Device> Fleet::GetDevice(
    absl::string_view fingerprint) const {
  absl::MutexLock lock(&mu_);
  const v1::Device* const device = FindDevice(fingerprint);
  if (device == nullptr) return NobodyOffers(fingerprint);
  return *device;
}

const v1::Device* Fleet::FindDevice(absl::string_view fingerprint) const {
  for (const auto& [id, worker] : workers_) {
    if (fingerprint.empty() || worker.device.fingerprint() == fingerprint) {
      return &worker.device;
    }
  }
  return nullptr;
}

absl::Status Fleet::CheckRequest(const v1::SynchronizeRequest& request) const {
  if (request.worker_id().empty()) {
    return InvalidField("worker_id", "it is empty, expected a name");
  }
  if (request.version() != options_.version) {
    return WithReason(
        absl::FailedPreconditionError(absl::StrCat(
            "worker ", request.worker_id(), " is of version \"",
            request.version(), "\", expected \"", options_.version, "\"")),
        "WORKER_VERSION");
  }
  if (request.device().fingerprint().empty()) {
    return InvalidField("device.fingerprint", "it is empty");
  }
  const v1::Device::Machine& machine = request.device().machine();
  if (request.device().threads() < 1 || machine.l1_bytes() < 1 ||
      machine.l2_bytes() < 1 || machine.cache_line_bytes() < 1 ||
      machine.vector_bytes() < 4 || machine.vector_registers() < 1) {
    return InvalidField("device.machine",
                        "threads, caches and vectors are not all given");
  }
  if (request.state_case() == v1::SynchronizeRequest::STATE_NOT_SET) {
    return InvalidField("state", "none is set, expected one");
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::SynchronizeResponse> Fleet::Synchronize(
    const v1::SynchronizeRequest& request) {
  HONE_RETURN_IF_ERROR(CheckRequest(request));
  absl::MutexLock lock(&mu_);
  ExpireLocked();
  const absl::Duration now = clock_.Monotonic();
  Worker& worker = workers_[request.worker_id()];
  worker.device = request.device();
  worker.last_seen = now;

  v1::SynchronizeResponse response;
  response.mutable_lease_duration()->set_seconds(
      absl::ToInt64Seconds(options_.lease));
  for (const v1::Completion& completion : request.completions()) {
    v1::SynchronizeResponse::Receipt& receipt = *response.add_receipts();
    *receipt.mutable_lease() = completion.lease();
    receipt.set_accepted(Accept(completion));
  }
  if (request.has_leaving()) {
    if (worker.job != nullptr) LoseLease(*worker.job);
    workers_.erase(request.worker_id());
    UpdateGauges();
    response.mutable_idle();
    return response;
  }
  if (draining_) return DrainingError();

  // A lease that the worker does not know of (its response was lost) is given
  // again; one that it does not have any more is not renewed.
  if (worker.job == nullptr && request.has_idle()) {
    worker.job = TakeWork(worker.device);
    if (worker.job != nullptr) {
      ++worker.job->attempts;
      worker.job->fence = ++last_fence_;
      worker.job->worker = request.worker_id();
    }
  }
  const bool holds = worker.job != nullptr &&
                     (request.has_idle() ||
                      request.executing().lease().fence() == worker.job->fence);
  if (holds) {
    worker.job->lease_end = now + options_.lease;
    v1::SynchronizeResponse::Execute& execute = *response.mutable_execute();
    execute.mutable_lease()->set_work_id(worker.job->id);
    execute.mutable_lease()->set_fence(worker.job->fence);
    if (request.has_idle()) *execute.mutable_work() = worker.job->work;
  } else {
    response.mutable_idle();
  }
  UpdateGauges();
  return response;
}

bool Fleet::Accept(const v1::Completion& completion) {
  const int64_t fence = completion.lease().fence();
  if (absl::c_linear_search(accepted_, fence)) return true;
  const auto found = jobs_.find(completion.lease().work_id());
  if (found == jobs_.end() || found->second->fence != fence) {
    metrics_.fenced_results.Increment();
    return false;
  }
  Job& job = *found->second;
  job.result = ResultOf(completion);
  accepted_.push_back(fence);
  if (accepted_.size() > kAcceptedKept) accepted_.pop_front();
  Forget(job);
  return true;
}

void Fleet::Forget(Job& job) {
  if (job.fence != 0) {
    const auto worker = workers_.find(job.worker);
    if (worker != workers_.end()) worker->second.job = nullptr;
  }
  const auto queued = absl::c_find_if(
      queue_, [&](const auto& other) { return other.get() == &job; });
  if (queued != queue_.end()) queue_.erase(queued);
  jobs_.erase(job.id);
  UpdateGauges();
}

std::shared_ptr<Fleet::Job> Fleet::TakeWork(const v1::Device& device) {
  for (auto it = queue_.begin(); it != queue_.end(); ++it) {
    const std::string& wanted = (*it)->device_fingerprint;
    if (!wanted.empty() && wanted != device.fingerprint()) continue;
    std::shared_ptr<Job> job = *it;
    queue_.erase(it);
    return job;
  }
  return nullptr;
}

void Fleet::LoseLease(Job& job) {
  workers_[job.worker].job = nullptr;
  job.fence = 0;
  job.worker.clear();
  // The job outlives jobs_ by what keeps it here.
  const std::shared_ptr<Job> kept = jobs_.at(job.id);
  if (job.attempts < options_.max_attempts) {
    queue_.push_front(kept);
    WakeWaiters();
    return;
  }
  job.result = absl::InternalError(
      absl::StrCat("the work was lost with ", job.attempts, " workers"));
  Forget(job);
}

void Fleet::Expire() {
  absl::MutexLock lock(&mu_);
  ExpireLocked();
}

void Fleet::ExpireLocked() {
  const absl::Duration now = clock_.Monotonic();
  std::vector<std::shared_ptr<Job>> lost;
  for (const auto& [id, job] : jobs_) {
    if (job->fence != 0 && job->lease_end < now) lost.push_back(job);
  }
  for (const std::shared_ptr<Job>& job : lost) {
    metrics_.leases_expired.Increment();
    LoseLease(*job);
  }
  absl::erase_if(workers_, [&](const auto& entry) {
    return entry.second.job == nullptr &&
           entry.second.last_seen + options_.lease < now;
  });
  UpdateGauges();
}

std::shared_ptr<void> Fleet::WaitForWork(std::function<void()> wake) {
  auto waiter = std::make_shared<Waiter>();
  {
    absl::MutexLock lock(&waiter->mu);
    waiter->wake = std::move(wake);
  }
  bool now = false;
  {
    absl::MutexLock lock(&mu_);
    now = draining_ || !queue_.empty();
    if (!now) waiters_.push_back(waiter);
  }
  if (now) waiter->Fire();
  // The handle forgets the function, waiting for a call that is under way.
  return std::shared_ptr<void>(waiter.get(), [waiter](void*) {
    absl::MutexLock lock(&waiter->mu);
    waiter->wake = nullptr;
  });
}

void Fleet::WakeWaiters() {
  for (const std::weak_ptr<Waiter>& weak : std::exchange(waiters_, {})) {
    if (const auto waiter = weak.lock()) waiter->Fire();
  }
}

std::vector<v1::Worker> Fleet::Workers() const {
  absl::MutexLock lock(&mu_);
  const absl::Duration now = clock_.Monotonic();
  std::vector<v1::Worker> workers;
  for (const auto& [id, worker] : workers_) {
    if (worker.last_seen + options_.lease < now) continue;
    v1::Worker& proto = workers.emplace_back();
    proto.set_id(id);
    *proto.mutable_device() = worker.device;
    proto.set_busy(worker.job != nullptr);
  }
  absl::c_sort(workers, [](const v1::Worker& a, const v1::Worker& b) {
    return a.id() < b.id();
  });
  return workers;
}

void Fleet::Drain() {
  absl::MutexLock lock(&mu_);
  draining_ = true;
  WakeWaiters();
}

void Fleet::UpdateGauges() {
  metrics_.workers.Set(static_cast<double>(workers_.size()));
  metrics_.work_queue_depth.Set(static_cast<double>(queue_.size()));
  metrics_.leases_active.Set(static_cast<double>(jobs_.size() - queue_.size()));
}

}  // namespace hone::daemon
