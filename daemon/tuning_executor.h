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
#include "absl/time/time.h"

#include "daemon/telemetry/metrics.h"
#include "hlo/ir/module.h"
#include "storage/record.h"
#include "tuning/tuner.h"

namespace hone::daemon {

// The state of a tuning, as those who follow it see it.
struct TuningUpdate {
  storage::Tuning tuning;
  tuning::Progress progress;
  // What was published, of a tuning that succeeded.
  std::optional<storage::Record> record;
  // The daemon shuts down; the tuning goes on after the next start.
  bool draining = false;

  // Whether no more updates follow.
  bool settled() const { return draining || storage::IsTerminal(tuning.state); }
};

// Runs tunings on threads of its own, a few at a time, the others queued in
// order. Identical requests share one tuning.
//
// Threads: thread-safe. All methods but Drain may wait for the store.
class TuningExecutor {
 public:
  struct Options {
    int max_running = 1;
    int max_queued = 1000;
  };
  // Called for each update, from the thread that made it. Must not block, nor
  // call the executor.
  using Listener = std::function<void(const TuningUpdate&)>;

  // What it is given outlives it.
  TuningExecutor(const tuning::TunerContext& context, Metrics& metrics,
                 const Options& options);
  // Drains, and waits for running tunings to stop.
  ~TuningExecutor();
  TuningExecutor(const TuningExecutor&) = delete;
  TuningExecutor& operator=(const TuningExecutor&) = delete;

  // Queues the tunings that the store holds unfinished, oldest first.
  absl::Status ResumeUnfinished();

  // A tuning that was started or joined; or the published record that makes one
  // unnecessary.
  struct Submission {
    storage::Tuning tuning;
    bool joined = false;
    std::optional<storage::Record> cached;
  };
  // Stores and queues a tuning. `key` is that of module and request.
  // Errors: ResourceExhausted (QUEUE_FULL) and Unavailable (DRAINING), with a
  // retry delay; those of tuning::CreateTuning.
  absl::StatusOr<Submission> Submit(const hlo::Module& module,
                                    const tuning::TuneRequest& request,
                                    const storage::CacheKey& key,
                                    bool use_cache);

  // Ends a tuning for good.
  // Errors: NotFound; FailedPrecondition (TUNING_FINISHED).
  absl::StatusOr<storage::Tuning> Cancel(absl::string_view id);

  // Errors: NotFound.
  absl::StatusOr<TuningUpdate> Get(absl::string_view id);
  // The update for a tuning from the store: live progress if it is active, and
  // the record if it succeeded.
  absl::StatusOr<TuningUpdate> Describe(storage::Tuning tuning);

  struct Job;
  // Ends a subscription when it is destroyed; afterwards the listener is not
  // called, and no call is under way.
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
  // Calls `listener` with the present state at once, then with each update
  // until one is settled.
  // Errors: NotFound.
  absl::StatusOr<Subscription> Subscribe(absl::string_view id,
                                         Listener listener);

  // Takes no more tunings, tells all subscribers, and asks running tunings to
  // stop. Returns at once.
  void Drain();
  bool draining() const;
  // Whether all tunings have stopped within `timeout`, after Drain.
  bool AwaitStopped(absl::Duration timeout);

 private:
  void Work();
  void Run(const std::shared_ptr<Job>& job);
  void Enqueue(std::shared_ptr<Job> job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Takes the job out of all lists. False when it is out already.
  bool Detach(const Job& job);
  void UpdateGauges() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::shared_ptr<Job> FindJob(absl::string_view id);
  TuningUpdate FinalUpdate(const Job& job,
                           const absl::StatusOr<storage::Record>& result);

  const tuning::TunerContext context_;
  Metrics& metrics_;
  const Options options_;

  // Held while a tuning is created, so that of identical requests at the same
  // moment one creates and the others join.
  absl::Mutex create_mu_ ABSL_ACQUIRED_BEFORE(mu_);

  mutable absl::Mutex mu_;
  bool draining_ ABSL_GUARDED_BY(mu_) = false;
  int running_ ABSL_GUARDED_BY(mu_) = 0;
  std::deque<std::shared_ptr<Job>> queue_ ABSL_GUARDED_BY(mu_);
  // Queued and running jobs by tuning id, and by what makes requests identical.
  absl::flat_hash_map<std::string, std::shared_ptr<Job>> active_
      ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, std::shared_ptr<Job>> by_identity_
      ABSL_GUARDED_BY(mu_);
  std::vector<std::thread> threads_;
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_TUNING_EXECUTOR_H_
