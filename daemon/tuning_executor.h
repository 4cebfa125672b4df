#ifndef HONE_DAEMON_TUNING_EXECUTOR_H_
#define HONE_DAEMON_TUNING_EXECUTOR_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"

#include "daemon/quarantine.h"
#include "daemon/telemetry/metrics.h"
#include "daemon/tuning_shares.h"
#include "storage/record.h"
#include "tuning/tuner.h"

namespace hone::daemon {

// The state of a tuning, as sent to its subscribers.
struct TuningUpdate {
  storage::Tuning tuning;
  tuning::Progress progress;
  // The published record, if the tuning succeeded.
  std::optional<storage::Record> record;
  // The thing that a pending tuning lacks besides its turn: "no worker offers a
  // device, …".
  std::string waiting_for;
  // The daemon shuts down; the tuning continues after the next start.
  bool draining = false;

  // Returns true if no more updates follow.
  bool settled() const { return draining || storage::IsTerminal(tuning.state); }
};

// Runs tunings on its own threads, a few at a time; the others wait in a queue.
// Identical requests (same key, optimizer and seed) share one tuning. A tuning
// whose device is not there waits aside until one comes.
//
// Threads: thread-safe. All methods except Drain may wait for the store.
class TuningExecutor {
 public:
  // Calls `wake` once a device of that target is there, until the end of the
  // returned handle.
  using WaitForDevice = std::function<std::shared_ptr<void>(
      absl::string_view target, std::function<void()> wake)>;
  struct Options {
    int max_running = 1;
    int max_queued = 1000;
    // Null: no device ever comes.
    WaitForDevice wait_for_device = nullptr;
  };
  // Called for each update, from the thread that made it. Must not block, nor
  // call the executor.
  using Listener = std::function<void(const TuningUpdate&)>;

  // The arguments outlive the executor.
  TuningExecutor(const tuning::TunerContext& context, Quarantine& quarantine,
                 Metrics& metrics, const Options& options);
  // Drains, and waits for running tunings to stop.
  ~TuningExecutor();
  TuningExecutor(const TuningExecutor&) = delete;
  TuningExecutor& operator=(const TuningExecutor&) = delete;

  // Queues the tunings that the store holds unfinished, oldest first. One that
  // the daemon has ended with too often has failed.
  absl::Status ResumeUnfinished();

  // A tuning that was started or joined; or the published record that makes one
  // unnecessary.
  struct Submission {
    storage::Tuning tuning;
    std::optional<storage::Record> cached;
  };
  // Returns the module to tune, stored.
  using ModuleSupplier = std::function<absl::StatusOr<tuning::StoredModule>()>;
  // Returns the published record if `use_cache` and there is one; otherwise
  // joins the identical tuning or stores and queues one. `key` is that of
  // module and specification. `module` is called only for a new tuning. Of
  // identical calls at the same moment, one does the work and the others wait
  // for its result. `share` is a share of the tuning from then on.
  // Errors: ResourceExhausted (QUEUE_FULL) and Unavailable (DRAINING), with a
  // retry delay; those of `module`, tuning::CreateTuning and TuningShares::Add.
  absl::StatusOr<Submission> Submit(const tuning::TuningSpec& spec,
                                    const storage::CacheKey& key,
                                    const Share& share, bool use_cache,
                                    const ModuleSupplier& module);

  // A tuning that was cancelled, or goes on because shares are left.
  struct Departure {
    storage::Tuning tuning;
    int shares_left = 0;
  };
  // Removes a share, or all of the caller, and cancels the tuning permanently
  // if none is left, or if `force`. Errors: NotFound; FailedPrecondition
  // (TUNING_FINISHED); those of TuningShares::Remove.
  absl::StatusOr<Departure> Leave(absl::string_view id, const Share& share,
                                  bool force);

  // Errors: NotFound.
  absl::StatusOr<TuningUpdate> Get(absl::string_view id);
  // Returns the update for a stored tuning: live progress if it is active, and
  // the record if it succeeded.
  absl::StatusOr<TuningUpdate> Describe(storage::Tuning tuning);

  struct Job;
  // Ends the subscription when destroyed; afterwards the listener is not called
  // and no call is under way.
  class Subscription {
   public:
    Subscription() = default;
    Subscription(std::shared_ptr<Job> job, int64_t id);
    Subscription(Subscription&& other) noexcept;
    Subscription& operator=(Subscription&& other) noexcept;
    ~Subscription();

   private:
    std::shared_ptr<Job> job_;
    int64_t id_ = 0;
  };
  // Calls `listener` with the current state at once, then with each update
  // until one is settled. Errors: NotFound.
  absl::StatusOr<Subscription> Subscribe(absl::string_view id,
                                         Listener listener);

  // Refuses further tunings, notifies all subscribers and asks running tunings
  // to stop. Returns at once.
  void Drain();
  bool draining() const;
  // Returns true if all tunings stop within `timeout`. Called after Drain.
  bool AwaitStopped(absl::Duration timeout);

 private:
  // A submission in progress: others with its identity wait for the result.
  struct Creation {
    absl::Notification done;
    absl::StatusOr<Submission> result;
  };

  // Looks the record up, or creates and queues the tuning.
  absl::StatusOr<Submission> Create(const tuning::TuningSpec& spec,
                                    const storage::CacheKey& key,
                                    const Share& share, bool use_cache,
                                    const ModuleSupplier& module,
                                    const std::string& identity);
  // Adds a share to a job. Returns its tuning, or nothing if it was cancelled.
  // Waits for the end of a cancellation that is under way.
  absl::StatusOr<std::optional<Submission>> Join(Job& job, const Share& share);
  // Cancels a tuning, whoever shares it.
  absl::StatusOr<storage::Tuning> Cancel(absl::string_view id);
  // Returns the published record; nothing if there is none that can be read.
  absl::StatusOr<std::optional<storage::Record>> FindPublished(
      const storage::CacheKey& key);
  absl::Status CheckQueue();
  absl::Status RefuseWhileDraining();

  // Counts the restart of a tuning; one that was restarted too often has
  // failed, and its module is set aside.
  absl::StatusOr<bool> FailsByRestarts(const storage::Tuning& tuning);
  void RunQueue();
  // Returns true if the tuning has ended and listeners know (known_ended_).
  bool Run(const std::shared_ptr<Job>& job);
  // If the process that ran the job failed: queues it again, up to a number of
  // failures; beyond, it has failed. Returns true if the job has not ended.
  bool TriesAgain(const std::shared_ptr<Job>& job, const absl::Status& status);
  void Enqueue(std::shared_ptr<Job> job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Removes the job from all lists. Returns false if it was removed before.
  bool Detach(const Job& job);
  void UpdateGauges() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::shared_ptr<Job> FindJob(absl::string_view id);
  // If the job lacks a device: sets it aside until one comes, and returns true.
  bool Parks(const std::shared_ptr<Job>& job, const absl::Status& status);
  void Unpark(const std::weak_ptr<Job>& job);
  // Finds the device of a job that waited for one of a kind.
  absl::Status ResolveTarget(Job& job);
  TuningUpdate FinalUpdate(const Job& job,
                           const absl::StatusOr<storage::Record>& result);

  const tuning::TunerContext context_;
  Quarantine& quarantine_;
  Metrics& metrics_;
  const Options options_;

  mutable absl::Mutex mu_;
  bool draining_ ABSL_GUARDED_BY(mu_) = false;
  int running_ ABSL_GUARDED_BY(mu_) = 0;
  // Those of running_ whose listeners know that they have ended.
  int known_ended_ ABSL_GUARDED_BY(mu_) = 0;
  std::deque<std::shared_ptr<Job>> queue_ ABSL_GUARDED_BY(mu_);
  // Queued and running jobs by tuning id and by identity, and submissions by
  // identity.
  absl::flat_hash_map<std::string, std::shared_ptr<Job>> active_
      ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, std::shared_ptr<Job>> by_identity_
      ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, std::shared_ptr<Creation>> creating_
      ABSL_GUARDED_BY(mu_);
  std::vector<std::thread> threads_;
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_TUNING_EXECUTOR_H_
