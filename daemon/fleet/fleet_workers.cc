#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "daemon/errors.h"
#include "daemon/fleet/fleet.h"
#include "daemon/fleet/fleet_job.h"
#include "daemon/limits.h"
#include "proto/worker_protocol.h"

// The workers of the fleet: who they are, what they can do, and how they leave.
namespace hone::daemon {
namespace {

// Returns the capability that work needs.
absl::string_view KindOf(const v1::Work& work) {
  switch (work.kind_case()) {
    case v1::Work::kKernel:
      return kKernelWork;
    case v1::Work::KIND_NOT_SET:
      break;
  }
  return "";
}

}  // namespace

bool Fleet::Worker::CanDo(const v1::Work& work) const {
  return absl::c_linear_search(capabilities, KindOf(work));
}

bool Fleet::Worker::HasWork() const {
  return absl::c_any_of(slots,
                        [](const Slot& slot) { return slot.job != nullptr; });
}

bool Fleet::Worker::HasCanary() const {
  return absl::c_any_of(slots, [](const Slot& slot) {
    return slot.job != nullptr && slot.job->is_canary;
  });
}

absl::Status Fleet::CheckRegistration(const v1::SynchronizeRequest& request,
                                      const WorkerCaller& caller) const {
  const auto known = workers_.find(request.worker_id());
  if (known != workers_.end()) {
    const Worker& worker = known->second;
    if (worker.caller.principal != caller.principal) {
      return WithReason(absl::PermissionDeniedError(absl::StrCat(
                            "worker ", request.worker_id(),
                            " is the id of another caller, expected a new id")),
                        "WORKER_ID_TAKEN");
    }
    const bool has_same_devices = absl::c_equal(
        worker.slots, request.devices(),
        [](const Slot& slot, const v1::Device& device) {
          return slot.device.fingerprint() == device.fingerprint();
        });
    if (has_same_devices && worker.machine_name == request.machine()) {
      return absl::OkStatus();
    }
    return WithReason(
        absl::FailedPreconditionError(absl::StrCat(
            "worker ", request.worker_id(), " is connected with ",
            worker.slots.size(), " devices, the first ",
            worker.slots.front().device.fingerprint(), ", of machine \"",
            worker.machine_name, "\", expected a new id for others")),
        "WORKER_CHANGED");
  }
  if (draining_) return DrainingError();
  const auto there = workers_of_address_.find(caller.address);
  const int64_t at_address =
      there == workers_of_address_.end() ? 0 : there->second;
  const bool is_full = static_cast<int64_t>(workers_.size()) >= kMaxWorkers;
  if (!is_full && at_address < kMaxWorkersPerClient) return absl::OkStatus();
  metrics_.RpcRejected("too_many_workers").Increment();
  return WithRetryDelay(
      AtLimit(
          is_full ? "workers" : "workers_per_client",
          absl::StrCat(workers_.size(), " workers are connected, ", at_address,
                       " of them from this address, expected less than ",
                       kMaxWorkers, " and ", kMaxWorkersPerClient)),
      options_.lease);
}

Fleet::Worker& Fleet::Register(const v1::SynchronizeRequest& request,
                               const WorkerCaller& caller) {
  const auto [entry, is_new] = workers_.try_emplace(request.worker_id());
  Worker& worker = entry->second;
  worker.slots.resize(static_cast<size_t>(request.devices_size()));
  for (size_t i = 0; i < worker.slots.size(); ++i) {
    worker.slots[i].device = request.devices(static_cast<int>(i));
  }
  worker.version = request.version();
  worker.protocol_version = request.protocol_version();
  worker.capabilities.assign(request.capabilities().begin(),
                             request.capabilities().end());
  worker.is_draining = request.state() == v1::SynchronizeRequest::DRAINING;
  worker.last_seen = clock_.Monotonic();
  if (!is_new) return worker;
  worker.caller = caller;
  worker.machine_name = request.machine();
  // No machine has the name of a worker without one: names have no slash.
  worker.machine = absl::StrCat(
      caller.address, "/", request.machine(),
      request.machine().empty() ? absl::StrCat("/", request.worker_id()) : "");
  standings_.Introduce(worker.machine, caller.address, worker.last_seen);
  ++workers_of_address_[caller.address];
  next_expiry_ = std::min(next_expiry_, worker.last_seen + options_.lease);
  CountQuarantined();
  return worker;
}

void Fleet::Unregister(absl::string_view worker_id) {
  const auto it = workers_.find(worker_id);
  const auto there = workers_of_address_.find(it->second.caller.address);
  if (--there->second == 0) workers_of_address_.erase(there);
  EndWait(it->second);
  workers_.erase(it);
  CountQuarantined();
}

absl::StatusOr<v1::Worker> Fleet::DrainWorker(absl::string_view worker_id) {
  absl::MutexLock lock(&mu_);
  const auto it = workers_.find(worker_id);
  if (it == workers_.end()) return ResourceNotFound("worker", worker_id);
  it->second.is_to_drain = true;
  EndWait(it->second);
  return Describe(worker_id, it->second);
}

void Fleet::EndWait(Worker& worker) {
  const auto waiter = work_waiters_.find(worker.waiter);
  if (waiter == work_waiters_.end()) return;
  waiter->second.waker->Fire();
  work_waiters_.erase(waiter);
  UpdateGauges();
}

}  // namespace hone::daemon
