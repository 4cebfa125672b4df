#ifndef HONE_DAEMON_FLEET_FLEET_H_
#define HONE_DAEMON_FLEET_FLEET_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

#include "base/clock.h"
#include "daemon/fleet/standings.h"
#include "daemon/fleet/waker.h"
#include "daemon/telemetry/metrics.h"
#include "hone/v1/admin_service.pb.h"
#include "hone/v1/worker_service.pb.h"

namespace hone::daemon {

// Who makes a worker's call.
struct WorkerCaller {
  // The machine's address, without the port.
  std::string address = "";
  // The identity that was checked: PrincipalOf (daemon/access/principal.h).
  std::string principal = "";
};

// Leases work to workers and accepts their results. The protocol is
// proto/hone/v1/worker_service.proto.
//
// A piece of work is leased to one device of a worker at a time, under a fence:
// a number that grows with each lease of the fleet. Results are accepted only
// under a current lease, so late results of a paused worker are discarded.
//
// Workers are not believed: reports are checked, a machine that loses or spoils
// work is avoided and finally quarantined (standings.h), and canaries, which
// are work with a known result, show noise and lies.
//
// Threads: thread-safe.
class Fleet {
 public:
  struct CanaryResult {
    CanaryVerdict verdict = CanaryVerdict::kPassed;
    // One line; empty if it passed.
    std::string detail;
  };
  // Work whose result is known.
  struct Canary {
    std::function<v1::Work(uint64_t seed)> make;
    std::function<CanaryResult(const v1::Completion&)> judge;
    // As Request::limit.
    absl::Duration limit = absl::InfiniteDuration();
  };
  struct Options {
    // The duration of a lease: a worker that is silent for longer loses its
    // work.
    absl::Duration lease = absl::Seconds(15);
    // How long to wait for a matching worker.
    absl::Duration device_wait = absl::Seconds(20);
    // The number of lost leases and bad reports after which a piece of work
    // fails.
    int max_attempts = 3;
    int64_t max_module_bytes = int64_t{1} << 30;
    // Without functions there are no canaries.
    Canary canary = {};
    Standings::Options standings = {};
  };
  // Called periodically unless it is empty; returns true to stop waiting.
  // Called with the fleet's lock held: it must return soon, and call no fleet.
  using StopPredicate = std::function<bool()>;

  // A piece of work.
  struct Request {
    v1::Work work;
    // The device to run it on; any if empty.
    std::string fingerprint;
    // A machine that must not do it (Result::machine); none if empty.
    std::string other_machine;
    // How long one worker may take, however often it calls.
    absl::Duration limit = absl::InfiniteDuration();
    // Returns an error if the completion cannot be the result of the work; it
    // is then given to another worker. Runs under a lock; may be empty.
    std::function<absl::Status(const v1::Completion&)> check;
  };
  struct Result {
    v1::Completion completion;
    // Who did it.
    std::string worker;
    std::string machine;
  };

 private:
  struct Job;

 public:
  // A piece of work that was handed in; its end takes the work back.
  class Ticket {
   public:
    ~Ticket();
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;
    // Returns the result once; nullopt before the end of the work. Errors: as
    // Run.
    std::optional<absl::StatusOr<Result>> Take();

   private:
    friend class Fleet;
    Ticket(Fleet& fleet, std::shared_ptr<Job> job);
    Fleet& fleet_;
    const std::shared_ptr<Job> job_;
  };

  // The arguments outlive the fleet.
  Fleet(const Clock& clock, Metrics& metrics, Options options);
  // No call may be running, and all tickets and handles have ended.
  ~Fleet();

  // Hands in work. Errors: ResourceExhausted (MODULE_TOO_LARGE,
  // WORK_TOO_LARGE); Unavailable (DRAINING).
  absl::StatusOr<std::unique_ptr<Ticket>> Submit(Request request);

  // Runs work on a worker and waits for its result. Errors: those of Submit;
  // those that a worker reports about the work; Internal if max_attempts
  // workers lost or spoiled it; Cancelled after `stop`; Unavailable if no
  // worker that may do it is connected any more, or (DRAINING) once the fleet
  // drains.
  absl::StatusOr<Result> Run(Request request, const StopPredicate& stop);

  // Returns a device that a trusted worker offers, with that fingerprint if it
  // is not empty. Waits for such a worker, at most device_wait.
  // Errors: Unavailable if none connects or the fleet drains; Cancelled after
  // `stop`.
  absl::StatusOr<v1::Device> AwaitDevice(absl::string_view fingerprint,
                                         const StopPredicate& stop);
  // Likewise of the workers that are connected now.
  absl::StatusOr<v1::Device> GetDevice(absl::string_view fingerprint) const;
  // Returns the devices of trusted workers, one for each fingerprint, in its
  // order.
  std::vector<v1::Device> Devices() const;
  // Returns true if a trusted worker on another machine has the device.
  bool HasOtherMachine(absl::string_view fingerprint,
                       absl::string_view machine) const;

  // Calls `wake` once, when a trusted worker has the device, or at once.
  // `target`: a fingerprint, a kind such as "cpu", or empty for any. After the
  // end of the returned handle `wake` is not called and not running. `wake`
  // must not call the fleet, nor take a lock under which the handle ends.
  std::shared_ptr<void> WaitForDevice(absl::string_view target,
                                      std::function<void()> wake);

  // Handles a call of a worker. If the response has no work for an idle device,
  // WaitForWork tells when to call again. Errors: as WorkerService.Synchronize.
  absl::StatusOr<v1::SynchronizeResponse> Synchronize(
      const v1::SynchronizeRequest& request, const WorkerCaller& caller = {});

  // The longest time that a call of an idle worker may wait, so that it stays
  // connected.
  absl::Duration longest_wait() const { return options_.lease * 2 / 3; }

  // Calls `wake` once, when there may be work for an idle device of this worker
  // or it is to drain, or at once. One worker is woken for each piece of work.
  // A further call for the same worker ends the wait of the last one. Otherwise
  // as WaitForDevice.
  std::shared_ptr<void> WaitForWork(absl::string_view worker_id,
                                    std::function<void()> wake);

  // Returns a part of a module that unfinished work names by its digest.
  // Errors: as WorkerService.ReadModule.
  absl::StatusOr<std::string> ReadModule(absl::string_view digest,
                                         int64_t offset) const;

  // Returns the workers that have called within the duration of a lease, by id.
  std::vector<v1::Worker> Workers() const;
  // Returns true if Workers() has this one.
  bool IsConnected(absl::string_view worker_id) const;

  // Ends the quarantine of a worker's machine; returns the worker.
  // Errors: as AdminService.ReleaseWorker.
  absl::StatusOr<v1::Worker> Release(absl::string_view worker_id);

  // Asks a worker to drain; returns the worker.
  // Errors: as AdminService.DrainWorker.
  absl::StatusOr<v1::Worker> DrainWorker(absl::string_view worker_id);

  // Records what came of a measurement by two machines; `detail` says in one
  // line how they disagree, and is empty if they agree.
  void CountConfirmation(const Result& first, const Result& second,
                         absl::string_view detail);
  // Records that there was no second machine.
  void CountUnconfirmed();

  // Revokes expired leases. Runs by itself when it matters.
  void Expire();

  // Stops leasing work; waiting callers get an error.
  void Drain();

 private:
  // A device, and the job that is leased to it.
  struct Slot {
    v1::Device device;
    std::shared_ptr<Job> job;
  };
  struct Worker {
    std::vector<Slot> slots;
    std::string version;
    int32_t protocol_version = 0;
    std::vector<std::string> capabilities;
    // It drains by its own will, or was asked to.
    bool is_draining = false;
    bool is_to_drain = false;
    WorkerCaller caller;
    // The key of its standing, and its name.
    std::string machine;
    std::string machine_name;
    absl::Duration last_seen;
    int64_t waiter = 0;  // in work_waiters_

    bool drains() const { return is_draining || is_to_drain; }
    bool CanDo(const v1::Work& work) const;
    bool HasWork() const;
    // It gets nothing else meanwhile.
    bool HasCanary() const;
  };
  using WorkerEntry = std::pair<const std::string, Worker>;
  struct WorkWaiter {
    std::string worker;
    std::shared_ptr<Waker> waker;
  };
  struct DeviceWaiter {
    std::string target;
    std::shared_ptr<Waker> waker;
  };
  enum class Loss { kSilent, kNotStarted, kNoProgress, kLeft };

  bool Matches(const Worker& worker, const v1::Device& device,
               absl::string_view target) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // As WaitForDevice.
  bool Offers(const Worker& worker, absl::string_view target) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns the description that most machines with a trusted worker give of
  // the device, so that a single one cannot change it; nullopt if there is
  // none.
  std::optional<v1::Device> FindDevice(absl::string_view fingerprint) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns true if some trusted worker may do the job, other than `avoided`
  // machines.
  bool HasWorkerFor(const Job& job, bool even_avoided) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns true if the device may do the job, if its machine is not avoided.
  bool MayDo(const Worker& worker, const v1::Device& device, const Job& job,
             bool even_avoided) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns true if the device is to do the job: a machine that is avoided,
  // only if there is no other.
  bool Fits(const Worker& worker, const v1::Device& device,
            const Job& job) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns true if the job fits a device without work.
  bool FitsIdle(const Worker& worker, const Job& job) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsCanaryDue(const Worker& worker) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  absl::Status CheckRegistration(const v1::SynchronizeRequest& request,
                                 const WorkerCaller& caller) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Worker& Register(const v1::SynchronizeRequest& request,
                   const WorkerCaller& caller)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Unregister(absl::string_view worker_id)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Wakes the worker, if it waits.
  void EndWait(Worker& worker) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  void ExpireLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Takes the job from its worker.
  void LoseLease(Job& job, Loss loss) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Ends the lease and queues the job again, or ends it with `error` if it has
  // been tried often enough.
  void TryAgain(Job& job, const absl::Status& error)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Finish(Job& job, absl::StatusOr<Result> result)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool Accept(absl::string_view worker_id, const v1::Completion& completion)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns true if the result is the job's.
  bool Judge(Job& job, const Worker& worker, const v1::Completion& completion)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::shared_ptr<Job> TakeWork(const Worker& worker, const v1::Device& device)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::shared_ptr<Job> MakeCanary(const Worker& worker)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Grant(Job& job, absl::string_view worker_id, size_t device)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Leases work to idle devices, renews the leases of others, and describes
  // both in `response`.
  void UpdateLeases(const v1::SynchronizeRequest& request, Worker& worker,
                    v1::SynchronizeResponse& response)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Takes all work from a worker that gives it back.
  void GiveBack(Worker& worker) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndLease(Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Forget(Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Wakes one waiting worker that fits the queued job.
  void WakeFor(Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndWorkWait(int64_t id);
  void WakeDeviceWaiters(const Worker& worker)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  v1::Worker Describe(absl::string_view id, const Worker& worker) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void UpdateGauges() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void CountQuarantined() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Clock& clock_;
  Metrics& metrics_;
  const Options options_;

  mutable absl::Mutex mu_;
  bool draining_ ABSL_GUARDED_BY(mu_) = false;
  int64_t last_fence_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t last_waiter_ ABSL_GUARDED_BY(mu_) = 0;
  // No lease or worker expires before this.
  absl::Duration next_expiry_ ABSL_GUARDED_BY(mu_) = -absl::InfiniteDuration();
  std::deque<std::shared_ptr<Job>> queue_ ABSL_GUARDED_BY(mu_);
  // Queued and leased jobs by id.
  absl::flat_hash_map<std::string, std::shared_ptr<Job>> jobs_
      ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, Worker> workers_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, int64_t> workers_of_address_
      ABSL_GUARDED_BY(mu_);
  // Modules of jobs that name them by digest.
  absl::flat_hash_map<std::string, std::weak_ptr<const std::string>> modules_
      ABSL_GUARDED_BY(mu_);
  // Fences and work of recently accepted results: a worker that missed the
  // receipt reports again.
  std::deque<std::pair<int64_t, std::string>> accepted_ ABSL_GUARDED_BY(mu_);
  // In the order in which they came.
  std::map<int64_t, WorkWaiter> work_waiters_ ABSL_GUARDED_BY(mu_);
  std::map<int64_t, DeviceWaiter> device_waiters_ ABSL_GUARDED_BY(mu_);
  Standings standings_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_FLEET_FLEET_H_
