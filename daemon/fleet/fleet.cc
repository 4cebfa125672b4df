#include "daemon/fleet/fleet.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"

#include "base/hash.h"
#include "base/status_macros.h"
#include "daemon/errors.h"
#include "daemon/fleet/fleet_job.h"
#include "daemon/limits.h"

// What callers of the fleet use; fleet_leases.cc has what its workers use, and
// fleet_workers.cc has who they are.
namespace hone::daemon {
namespace {

// How often a caller that waits asks whether it is to stop, and whether leases
// have run out.
constexpr absl::Duration kPatrol = absl::Milliseconds(100);

absl::Status NobodyOffers(absl::string_view fingerprint) {
  return absl::UnavailableError(absl::StrCat(
      "no worker offers a device",
      fingerprint.empty() ? "" : absl::StrCat(" ", fingerprint),
      ", expected one that is not quarantined (hone worker --connect; hone "
      "list workers)"));
}

Standings::Options StandingsOptions(const Fleet::Options& options) {
  Standings::Options standings = options.standings;
  standings.has_canaries = options.canary.make != nullptr;
  return standings;
}

v1::Worker::Quarantine::Reason ReasonOf(Fault fault) {
  using Quarantine = v1::Worker::Quarantine;
  switch (fault) {
    case Fault::kFailure:
      return Quarantine::FAILURE;
    case Fault::kLostLease:
      return Quarantine::LOST_LEASE;
    case Fault::kMalformedReport:
      return Quarantine::MALFORMED_REPORT;
    case Fault::kDisagreement:
      return Quarantine::DISAGREEMENT;
    case Fault::kNoise:
      return Quarantine::NOISE;
    case Fault::kLie:
      return Quarantine::LIE;
  }
  return Quarantine::REASON_UNSPECIFIED;
}

}  // namespace

Fleet::Ticket::Ticket(Fleet& fleet, std::shared_ptr<Job> job)
    : fleet_(fleet), job_(std::move(job)) {}

Fleet::Ticket::~Ticket() {
  absl::MutexLock lock(&fleet_.mu_);
  if (fleet_.jobs_.contains(job_->id)) fleet_.Forget(*job_);
}

std::optional<absl::StatusOr<Fleet::Result>> Fleet::Ticket::Take() {
  absl::MutexLock lock(&fleet_.mu_);
  if (!job_->result.has_value() && fleet_.draining_) {
    fleet_.Forget(*job_);
    return DrainingError();
  }
  return std::exchange(job_->result, std::nullopt);
}

Fleet::Fleet(const Clock& clock, Metrics& metrics, Options options)
    : clock_(clock),
      metrics_(metrics),
      options_(std::move(options)),
      standings_(metrics, StandingsOptions(options_)) {}

Fleet::~Fleet() = default;

absl::StatusOr<std::unique_ptr<Fleet::Ticket>> Fleet::Submit(Request request) {
  const auto job = std::make_shared<Job>();
  job->id = RandomUuid();
  v1::KernelWork& kernel = *request.work.mutable_kernel();
  const auto module_bytes = static_cast<int64_t>(kernel.module().size());
  if (module_bytes > options_.max_module_bytes) {
    return WithReason(
        absl::ResourceExhaustedError(absl::StrCat("a kernel of ", module_bytes,
                                                  " bytes, expected at most ",
                                                  options_.max_module_bytes)),
        "MODULE_TOO_LARGE");
  }
  if (module_bytes > kMaxWorkModuleBytes) {
    job->module = std::make_shared<const std::string>(
        std::move(*kernel.mutable_module()));
    kernel.clear_module();
    kernel.set_module_digest(Sha256Hex(*job->module));
    kernel.set_module_bytes(module_bytes);
  }
  const size_t bytes = request.work.ByteSizeLong();
  if (bytes > static_cast<size_t>(kMaxWorkBytes)) {
    return WithReason(absl::ResourceExhaustedError(absl::StrCat(
                          "schedules of ", bytes, " bytes, expected at most ",
                          kMaxWorkBytes)),
                      "WORK_TOO_LARGE");
  }
  job->request = std::move(request);

  absl::MutexLock lock(&mu_);
  if (draining_) return DrainingError();
  if (job->module != nullptr) {
    // Jobs on the same module share its bytes.
    auto& known = modules_[job->request.work.kernel().module_digest()];
    if (auto shared = known.lock()) {
      job->module = std::move(shared);
    } else {
      known = job->module;
    }
  }
  jobs_[job->id] = job;
  queue_.push_back(job);
  UpdateGauges();
  WakeFor(*job);
  return std::unique_ptr<Ticket>(new Ticket(*this, job));
}

absl::StatusOr<Fleet::Result> Fleet::Run(Request request,
                                         const StopPredicate& stop) {
  const std::string fingerprint = request.fingerprint;
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Ticket> ticket,
                        Submit(std::move(request)));
  const Job& job = *ticket->job_;
  {
    absl::MutexLock lock(&mu_);
    const auto ended = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      return draining_ || job.result.has_value();
    };
    absl::Duration last_hope = clock_.Monotonic();
    while (!mu_.AwaitWithTimeout(absl::Condition(&ended), kPatrol)) {
      ExpireLocked();
      if (stop && stop()) return absl::CancelledError("stopped");
      const absl::Duration now = clock_.Monotonic();
      const bool has_hope =
          job.fence != 0 || HasWorkerFor(job, /*even_avoided=*/true);
      if (has_hope) last_hope = now;
      // Nobody waits for a second machine that has left or is quarantined.
      const bool is_second = !job.request.other_machine.empty();
      if (now - last_hope > options_.device_wait || (is_second && !has_hope)) {
        return NobodyOffers(fingerprint);
      }
    }
  }
  return *ticket->Take();
}

bool Fleet::Matches(const Worker& worker, const v1::Device& device,
                    absl::string_view target) const {
  return (target.empty() || device.fingerprint() == target ||
          device.kind() == target) &&
         !worker.drains() &&
         standings_.IsTrusted(worker.machine, clock_.Monotonic());
}

bool Fleet::Offers(const Worker& worker, absl::string_view target) const {
  return absl::c_any_of(worker.slots, [&](const Slot& slot) {
    return Matches(worker, slot.device, target);
  });
}

bool Fleet::MayDo(const Worker& worker, const v1::Device& device,
                  const Job& job, bool even_avoided) const {
  const Request& request = job.request;
  return (request.fingerprint.empty() ||
          device.fingerprint() == request.fingerprint) &&
         (request.other_machine.empty() ||
          worker.machine != request.other_machine) &&
         (even_avoided ||
          !absl::c_linear_search(job.avoided, worker.machine)) &&
         worker.CanDo(request.work) && !worker.drains() &&
         standings_.IsTrusted(worker.machine, clock_.Monotonic());
}

bool Fleet::HasWorkerFor(const Job& job, bool even_avoided) const {
  return absl::c_any_of(workers_, [&](const WorkerEntry& entry) {
    return absl::c_any_of(entry.second.slots, [&](const Slot& slot) {
      return MayDo(entry.second, slot.device, job, even_avoided);
    });
  });
}

bool Fleet::Fits(const Worker& worker, const v1::Device& device,
                 const Job& job) const {
  if (!MayDo(worker, device, job, /*even_avoided=*/true)) return false;
  return !absl::c_linear_search(job.avoided, worker.machine) ||
         !HasWorkerFor(job, /*even_avoided=*/false);
}

bool Fleet::FitsIdle(const Worker& worker, const Job& job) const {
  if (worker.HasCanary()) return false;
  return absl::c_any_of(worker.slots, [&](const Slot& slot) {
    return slot.job == nullptr && Fits(worker, slot.device, job);
  });
}

namespace {

// Machines describe a device differently only if one of them is mistaken, or
// lies: the description of most of them counts.
class Votes {
 public:
  void Add(const v1::Device& device, absl::string_view machine) {
    Vote& vote = votes_[device.SerializeAsString()];
    vote.device = &device;
    vote.machines.insert(machine);
  }
  std::optional<v1::Device> Winner() const {
    const auto most =
        absl::c_max_element(votes_, [](const auto& a, const auto& b) {
          return a.second.machines.size() < b.second.machines.size();
        });
    if (most == votes_.end()) return std::nullopt;
    return *most->second.device;
  }

 private:
  struct Vote {
    const v1::Device* device;
    absl::flat_hash_set<absl::string_view> machines;
  };
  std::map<std::string, Vote> votes_;
};

}  // namespace

std::optional<v1::Device> Fleet::FindDevice(
    absl::string_view fingerprint) const {
  Votes votes;
  for (const auto& [_, worker] : workers_) {
    for (const Slot& slot : worker.slots) {
      if (!Matches(worker, slot.device, fingerprint)) continue;
      votes.Add(slot.device, worker.machine);
    }
  }
  return votes.Winner();
}

absl::StatusOr<v1::Device> Fleet::AwaitDevice(absl::string_view fingerprint,
                                              const StopPredicate& stop) {
  const absl::Duration end = clock_.Monotonic() + options_.device_wait;
  absl::MutexLock lock(&mu_);
  std::optional<v1::Device> device;
  const auto found = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (draining_) return true;
    device = FindDevice(fingerprint);
    return device.has_value();
  };
  while (!mu_.AwaitWithTimeout(absl::Condition(&found), kPatrol)) {
    if (stop && stop()) return absl::CancelledError("stopped");
    if (clock_.Monotonic() >= end) return NobodyOffers(fingerprint);
  }
  if (draining_) return DrainingError();
  return *std::move(device);
}

absl::StatusOr<v1::Device> Fleet::GetDevice(
    absl::string_view fingerprint) const {
  absl::MutexLock lock(&mu_);
  std::optional<v1::Device> device = FindDevice(fingerprint);
  if (!device.has_value()) return NobodyOffers(fingerprint);
  return *std::move(device);
}

std::vector<v1::Device> Fleet::Devices() const {
  absl::MutexLock lock(&mu_);
  // Once over all: workers can offer very many.
  std::map<absl::string_view, Votes> votes;
  for (const auto& [_, worker] : workers_) {
    for (const Slot& slot : worker.slots) {
      if (!Matches(worker, slot.device, /*target=*/"")) continue;
      votes[slot.device.fingerprint()].Add(slot.device, worker.machine);
    }
  }
  std::vector<v1::Device> list;
  list.reserve(votes.size());
  for (const auto& [_, of_device] : votes) list.push_back(*of_device.Winner());
  return list;
}

bool Fleet::HasOtherMachine(absl::string_view fingerprint,
                            absl::string_view machine) const {
  absl::MutexLock lock(&mu_);
  return absl::c_any_of(workers_, [&](const WorkerEntry& entry) {
    return entry.second.machine != machine && Offers(entry.second, fingerprint);
  });
}

std::shared_ptr<void> Fleet::WaitForDevice(absl::string_view target,
                                           std::function<void()> wake) {
  const auto waker = std::make_shared<Waker>(std::move(wake));
  int64_t id = 0;
  {
    absl::MutexLock lock(&mu_);
    const bool is_there = absl::c_any_of(
        workers_,
        [&](const WorkerEntry& entry) { return Offers(entry.second, target); });
    if (is_there || draining_) {
      waker->Fire();
    } else {
      id = ++last_waiter_;
      device_waiters_[id] = {std::string(target), waker};
    }
  }
  return std::shared_ptr<void>(waker.get(), [this, waker, id](void*) {
    waker->Forget();
    absl::MutexLock lock(&mu_);
    device_waiters_.erase(id);
  });
}

void Fleet::WakeDeviceWaiters(const Worker& worker) {
  for (auto it = device_waiters_.begin(); it != device_waiters_.end();) {
    if (!Offers(worker, it->second.target)) {
      ++it;
      continue;
    }
    it->second.waker->Fire();
    it = device_waiters_.erase(it);
  }
}

absl::StatusOr<std::string> Fleet::ReadModule(absl::string_view digest,
                                              int64_t offset) const {
  std::shared_ptr<const std::string> module;
  {
    absl::MutexLock lock(&mu_);
    const auto it = modules_.find(digest);
    if (it != modules_.end()) module = it->second.lock();
  }
  if (module == nullptr) return ResourceNotFound("module", digest);
  if (offset < 0 || offset > static_cast<int64_t>(module->size())) {
    return InvalidField(
        "offset", absl::StrCat(offset, ", expected 0 to ", module->size()));
  }
  return module->substr(static_cast<size_t>(offset),
                        static_cast<size_t>(kMaxChunkBytes));
}

v1::Worker Fleet::Describe(absl::string_view id, const Worker& worker) const {
  const absl::Duration now = clock_.Monotonic();
  v1::Worker proto;
  proto.set_id(std::string(id));
  for (size_t i = 0; i < worker.slots.size(); ++i) {
    *proto.add_devices() = worker.slots[i].device;
    if (worker.slots[i].job != nullptr) {
      proto.add_busy_devices(static_cast<int32_t>(i));
    }
  }
  proto.set_machine(worker.machine_name);
  proto.set_machine_id(worker.machine);
  proto.set_principal(worker.caller.principal);
  proto.set_version(worker.version);
  proto.set_protocol_version(worker.protocol_version);
  for (const std::string& kind : worker.capabilities) {
    proto.add_capabilities(kind);
  }
  proto.set_draining(worker.drains());
  proto.set_on_probation(standings_.OnProbation(worker.machine, now));
  const Standings::Quarantine* const quarantine =
      standings_.FindQuarantine(worker.machine, now);
  if (quarantine != nullptr) {
    v1::Worker::Quarantine& to = *proto.mutable_quarantine();
    to.set_reason(ReasonOf(quarantine->fault));
    to.set_detail(quarantine->detail);
    to.mutable_end_time()->set_seconds(
        absl::ToUnixSeconds(clock_.Now() + (quarantine->until - now)));
  }
  return proto;
}

std::vector<v1::Worker> Fleet::Workers() const {
  absl::MutexLock lock(&mu_);
  const absl::Duration now = clock_.Monotonic();
  std::vector<v1::Worker> workers;
  for (const auto& [id, worker] : workers_) {
    if (worker.last_seen + options_.lease < now) continue;
    workers.push_back(Describe(id, worker));
  }
  absl::c_sort(workers, [](const v1::Worker& a, const v1::Worker& b) {
    return a.id() < b.id();
  });
  return workers;
}

bool Fleet::IsConnected(absl::string_view worker_id) const {
  absl::MutexLock lock(&mu_);
  const auto it = workers_.find(worker_id);
  return it != workers_.end() &&
         it->second.last_seen + options_.lease >= clock_.Monotonic();
}

absl::StatusOr<v1::Worker> Fleet::Release(absl::string_view worker_id) {
  absl::MutexLock lock(&mu_);
  const auto it = workers_.find(worker_id);
  if (it == workers_.end()) return ResourceNotFound("worker", worker_id);
  if (!standings_.Release(it->second.machine, clock_.Monotonic())) {
    return WithReason(
        absl::FailedPreconditionError(absl::StrCat(
            "worker ", worker_id, " is not quarantined, expected one that is")),
        "NOT_QUARANTINED");
  }
  CountQuarantined();
  WakeDeviceWaiters(it->second);
  for (const std::shared_ptr<Job>& job : queue_) WakeFor(*job);
  // On probation none fits a job, but each may have its canary.
  for (auto& [_, worker] : workers_) {
    if (worker.machine == it->second.machine) EndWait(worker);
  }
  return Describe(worker_id, it->second);
}

void Fleet::CountConfirmation(const Result& first, const Result& second,
                              absl::string_view detail) {
  metrics_.Confirmations(detail.empty() ? "agreed" : "disagreed").Increment();
  if (detail.empty()) return;
  absl::MutexLock lock(&mu_);
  standings_.MarkDisagreement(first.machine, second.machine, detail,
                              clock_.Monotonic());
  CountQuarantined();
}

void Fleet::CountUnconfirmed() { metrics_.Confirmations("alone").Increment(); }

void Fleet::Drain() {
  absl::MutexLock lock(&mu_);
  draining_ = true;
  for (auto& [_, waiter] : work_waiters_) waiter.waker->Fire();
  for (auto& [_, waiter] : device_waiters_) waiter.waker->Fire();
  work_waiters_.clear();
  device_waiters_.clear();
}

void Fleet::UpdateGauges() {
  metrics_.workers.Set(static_cast<double>(workers_.size()));
  metrics_.workers_waiting.Set(static_cast<double>(work_waiters_.size()));
  metrics_.work_queue_depth.Set(static_cast<double>(queue_.size()));
  metrics_.leases_active.Set(static_cast<double>(jobs_.size() - queue_.size()));
}

void Fleet::CountQuarantined() {
  const absl::Duration now = clock_.Monotonic();
  metrics_.workers_quarantined.Set(
      static_cast<double>(absl::c_count_if(workers_, [&](const WorkerEntry& w) {
        return standings_.FindQuarantine(w.second.machine, now) != nullptr;
      })));
}

}  // namespace hone::daemon
