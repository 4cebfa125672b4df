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

// Gives work to the workers that ask for it (proto/hone/v1/worker_service.proto
// is the protocol), and takes their results.
//
// A piece of work is leased to one worker at a time, under a fence that grows
// with each lease of the fleet. The result of a lease counts only while the
// lease lasts, so of all that a paused worker reports late nothing is taken.
//
// Threads: thread-safe.
class Fleet {
 public:
  struct Options {
    // Of Hone; workers of another one are refused.
    std::string version;
    // A worker that is silent for so long has lost its work.
    absl::Duration lease = absl::Seconds(15);
    // For how long a worker is waited for that is not there.
    absl::Duration device_wait = absl::Seconds(20);
    // Leases of one piece of work that may be lost before it is given up.
    int max_attempts = 3;
  };
  // Asked now and then, unless it is empty; true gives up waiting.
  using StopPredicate = std::function<bool()>;

  // What it is given outlives it.
  Fleet(const Clock& clock, Metrics& metrics, Options options);
  // No call is under way.
  ~Fleet();

  // Has a worker do `work`, one with that device fingerprint if it is not
  // empty, and waits for it.
  // Errors: those that the worker reports about the work; Internal when the
  // work was lost with max_attempts workers; Cancelled after `stop`;
  // Unavailable when no worker with such a device is there any more, or
  // (DRAINING) once the fleet drains.
  absl::StatusOr<v1::Completion> Run(const v1::Work& work,
                                     absl::string_view device_fingerprint,
                                     const StopPredicate& stop);

  // A device that a worker offers, with that fingerprint if it is not empty;
  // waits a while for such a worker to come.
  // Errors: Unavailable when none comes, or the fleet drains; Cancelled after
  // `stop`.
  absl::StatusOr<v1::Device> AwaitDevice(absl::string_view fingerprint,
                                         const StopPredicate& stop);

  // A worker's call. When it is idle and there is nothing for it, `idle` of the
  // response is set: AwaitWork tells when to ask again.
  // Errors: as WorkerService.Synchronize.
  absl::StatusOr<v1::SynchronizeResponse> Synchronize(
      const v1::SynchronizeRequest& request);

  // Calls `wake` once: when there may be work for an idle worker, or at once.
  // Ends with the handle: afterwards `wake` is not called, and no call of it is
  // under way. `wake` must not call the fleet.
  std::shared_ptr<void> AwaitWork(std::function<void()> wake);

  // The workers that have called within a lease, by id.
  std::vector<v1::Worker> Workers() const;

  // Takes away leases that have run out. Called by itself when it matters.
  void Expire();

  // From now on workers get no work, and waiting callers an error.
  void Drain();

 private:
  struct Job;
  struct Worker {
    v1::Device device;
    absl::Duration last_seen;
    std::shared_ptr<Job> job;  // leased to it
  };
  struct Waiter;

  // Of a worker, with that fingerprint if it is not empty; null: there is none.
  const v1::Device* FindDevice(absl::string_view fingerprint) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status CheckRequest(const v1::SynchronizeRequest& request) const;
  void ExpireLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Takes the job from its worker, back to the front of the queue, or ends it
  // when it was lost too often.
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
  // Queued and leased ones, by id.
  absl::flat_hash_map<std::string, std::shared_ptr<Job>> jobs_
      ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, Worker> workers_ ABSL_GUARDED_BY(mu_);
  // Fences whose results were taken lately: a worker that did not get the
  // receipt asks again.
  std::deque<int64_t> accepted_ ABSL_GUARDED_BY(mu_);
  std::vector<std::weak_ptr<Waiter>> waiters_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_FLEET_FLEET_H_
