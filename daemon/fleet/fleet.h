#ifndef HONE_DAEMON_FLEET_FLEET_H_
#define HONE_DAEMON_FLEET_FLEET_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

#include "base/clock.h"
#include "daemon/telemetry/metrics.h"
#include "hone/v1/admin_service.pb.h"
#include "hone/v1/worker_service.pb.h"

namespace hone::daemon {

// Leases work to workers and accepts their results. The protocol is
// proto/hone/v1/worker_service.proto.
//
// A piece of work is leased to one worker at a time, under a fence: a number
// that grows with each lease of the fleet. Results are accepted only under a
// current lease, so late results of a paused worker are discarded.
//
// Threads: thread-safe.
class Fleet {
 public:
  struct Options {
    // The version of Hone; workers of another version are refused.
    std::string version;
    // The duration of a lease: a worker that is silent for longer loses its
    // work.
    absl::Duration lease = absl::Seconds(15);
    // How long to wait for a matching worker.
    absl::Duration device_wait = absl::Seconds(20);
    // The number of lost leases after which a piece of work fails.
    int max_attempts = 3;
  };
  // Called periodically unless it is empty; returns true to stop waiting.
  using StopPredicate = std::function<bool()>;

  // The arguments outlive the fleet.
  Fleet(const Clock& clock, Metrics& metrics, Options options);
  // No call may be running.
  ~Fleet();

  // Runs `work` on a worker, one with that device fingerprint if it is not
  // empty, and waits for its result. Errors: those that the worker reports
  // about the work; Internal if max_attempts leases of the work were lost;
  // Cancelled after `stop`; Unavailable if no worker with such a device is
  // connected any more, or (DRAINING) once the fleet drains.
  absl::StatusOr<v1::Completion> Run(const v1::Work& work,
                                     absl::string_view device_fingerprint,
                                     const StopPredicate& stop);

  // Returns a device that a worker offers, with that fingerprint if it is not
  // empty. Waits for such a worker, at most device_wait.
  // Errors: Unavailable if none connects or the fleet drains; Cancelled after
  // `stop`.
  absl::StatusOr<v1::Device> AwaitDevice(absl::string_view fingerprint,
                                         const StopPredicate& stop);
  // Likewise of the workers that are connected now.
  absl::StatusOr<v1::Device> GetDevice(absl::string_view fingerprint) const;

  // Handles a worker's call. `idle` of the response is set if the worker is
  // idle and there is no work for it; WaitForWork tells when to call again.
  // Errors: as WorkerService.Synchronize.
  absl::StatusOr<v1::SynchronizeResponse> Synchronize(
      const v1::SynchronizeRequest& request);

  // Calls `wake` once, when there may be work for an idle worker, or at once.
  // After the end of the returned handle `wake` is not called and not running.
  // `wake` must not call the fleet.
  std::shared_ptr<void> WaitForWork(std::function<void()> wake);

  // Returns the workers that have called within the duration of a lease, by id.
  std::vector<v1::Worker> Workers() const;

  // Revokes expired leases. Runs by itself when it matters.
  void Expire();

  // Stops leasing work; waiting callers get an error.
  void Drain();

 private:
  struct Job;
  struct Worker {
    v1::Device device;
    absl::Duration last_seen;
    std::shared_ptr<Job> job;  // leased to this worker
  };
  struct Waiter;

  // Returns a device of that fingerprint, or any if it is empty; null if there
  // is none.
  const v1::Device* FindDevice(absl::string_view fingerprint) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status CheckRequest(const v1::SynchronizeRequest& request) const;
  void ExpireLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns the job to the front of the queue, or fails it if its leases were
  // lost too often.
  void LoseLease(Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool Accept(const v1::Completion& completion)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::shared_ptr<Job> TakeWork(const v1::Device& device)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void WakeWaiters() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void UpdateGauges() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Forget(Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Clock& clock_;
  Metrics& metrics_;
  const Options options_;

  mutable absl::Mutex mu_;
  bool draining_ ABSL_GUARDED_BY(mu_) = false;
  int64_t last_fence_ ABSL_GUARDED_BY(mu_) = 0;
  std::deque<std::shared_ptr<Job>> queue_ ABSL_GUARDED_BY(mu_);
  // Queued and leased jobs by id.
  absl::flat_hash_map<std::string, std::shared_ptr<Job>> jobs_
      ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, Worker> workers_ ABSL_GUARDED_BY(mu_);
  // Fences of recently accepted results: a worker that missed the receipt
  // reports again.
  std::deque<int64_t> accepted_ ABSL_GUARDED_BY(mu_);
  std::vector<std::weak_ptr<Waiter>> waiters_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_FLEET_FLEET_H_
