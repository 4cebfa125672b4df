#include "daemon/tuning_executor.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include <spdlog/spdlog.h>

#include "base/status_macros.h"
#include "base/trace_context.h"
#include "daemon/errors.h"
#include "tuning/registry.h"
#include "tuning/stored_error.h"
#include "tuning/task.h"

namespace hone::daemon {
namespace {

using storage::CacheKey;
using storage::Record;
using storage::Tuning;
using storage::TuningState;

// A tuning that was running so often when the daemon ended, without a new trial
// in between, may be the reason.
constexpr int64_t kMaxRestarts = 10;

// The identity of a search. Budgets are left out: a request for the same search
// joins the one that runs.
std::string Identity(const CacheKey& key, absl::string_view optimizer,
                     uint64_t seed) {
  return absl::StrCat(key.Digest(), "/", optimizer, "/", seed);
}

// Returns the progress that the store knows of.
tuning::Progress StoredProgress(const Tuning& tuning) {
  tuning::Progress progress;
  progress.trials = tuning.trials;
  progress.budget_trials = tuning.budget.trials;
  progress.default_cost = tuning.default_cost;
  progress.best_cost = tuning.best_cost;
  return progress;
}

// A fingerprint, "cpu:0123456789abcdef".
bool IsDevice(absl::string_view target) {
  return absl::StrContains(target, ":");
}

}  // namespace

// A queued or running tuning. Locked after TuningExecutor::mu_.
struct TuningExecutor::Job {
  Job(Tuning tuning, std::string job_identity)
      : id(tuning.id), identity(std::move(job_identity)) {
    update.progress = StoredProgress(tuning);
    update.tuning = std::move(tuning);
  }

  const std::string id;
  const std::string identity;
  // The request that started it; empty after a restart of the daemon.
  const std::string traceparent{CurrentTraceparent()};
  const absl::Time queued = SystemClock().Now();
  const absl::Duration queued_at = SystemClock().Monotonic();
  std::atomic<bool> stop = false;
  // Failures of the processes that ran it. Of the thread that runs the job.
  int process_failures = 0;

  absl::Mutex mu;
  TuningUpdate update ABSL_GUARDED_BY(mu);
  TuningShares shares ABSL_GUARDED_BY(mu);
  // The last share is gone, or taken by force: nobody joins until the tuning is
  // cancelled, or cannot be.
  bool is_ending ABSL_GUARDED_BY(mu) = false;
  // While it waits for a device. Ended without the lock.
  std::shared_ptr<void> device_wait ABSL_GUARDED_BY(mu);
  int64_t device_waits ABSL_GUARDED_BY(mu) = 0;
  int64_t next_listener ABSL_GUARDED_BY(mu) = 1;
  absl::flat_hash_map<int64_t, Listener> listeners ABSL_GUARDED_BY(mu);

  // Changes the update by `change` and notifies the listeners, unless it is
  // settled.
  template <typename Change>
  void Notify(Change change) ABSL_LOCKS_EXCLUDED(mu) {
    absl::MutexLock lock(&mu);
    if (update.settled()) return;
    change(update);
    for (const auto& [_, listener] : listeners) listener(update);
  }
};

TuningExecutor::TuningExecutor(const tuning::TunerContext& context,
                               Quarantine& quarantine, Metrics& metrics,
                               const Options& options)
    : context_(context),
      quarantine_(quarantine),
      metrics_(metrics),
      options_(options) {
  for (int i = 0; i < options.max_running; ++i) {
    threads_.emplace_back([this] { RunQueue(); });
  }
}

TuningExecutor::~TuningExecutor() {
  Drain();
  for (std::thread& thread : threads_) thread.join();
}

absl::Status TuningExecutor::ResumeUnfinished() {
  std::vector<Tuning> unfinished;
  std::string token;
  do {
    HONE_ASSIGN_OR_RETURN(
        auto page,
        context_.store->ListTunings(
            {TuningState::kPending, TuningState::kRunning}, 0, token));
    std::move(page.items.begin(), page.items.end(),
              std::back_inserter(unfinished));
    token = std::move(page.next_page_token);
  } while (!token.empty());
  for (auto it = unfinished.begin(); it != unfinished.end();) {
    HONE_ASSIGN_OR_RETURN(const bool fails, FailsByRestarts(*it));
    it = fails ? unfinished.erase(it) : it + 1;
  }

  absl::MutexLock lock(&mu_);
  std::for_each(unfinished.rbegin(), unfinished.rend(), [&](Tuning& tuning) {
    mu_.AssertHeld();
    spdlog::info("resuming tuning {} of {} after {} trials", tuning.id,
                 tuning.module_name, tuning.trials);
    std::string identity = Identity(tuning.key, tuning.optimizer, tuning.seed);
    tuning.state = TuningState::kPending;
    Enqueue(std::make_shared<Job>(std::move(tuning), std::move(identity)));
  });
  return absl::OkStatus();
}

absl::StatusOr<bool> TuningExecutor::FailsByRestarts(const Tuning& tuning) {
  // One that waited has not ended anything.
  if (tuning.state != TuningState::kRunning) return false;
  HONE_ASSIGN_OR_RETURN(const int64_t attempts,
                        context_.store->CountAttempt(tuning.id));
  if (attempts <= kMaxRestarts) return false;
  const std::string reason = absl::StrCat(
      "the daemon ended ", attempts, " times while it ran, without a trial");
  quarantine_.Add(tuning.module_digest, reason);
  HONE_RETURN_IF_ERROR(
      context_.store->SetTuningState(tuning.id, TuningState::kFailed, reason));
  return true;
}

void TuningExecutor::Enqueue(std::shared_ptr<Job> job) {
  active_[job->id] = job;
  by_identity_[job->identity] = job;
  queue_.push_back(std::move(job));
  UpdateGauges();
}

absl::Status TuningExecutor::RefuseWhileDraining() {
  metrics_.RpcRejected("draining").Increment();
  return DrainingError();
}

absl::StatusOr<std::optional<Record>> TuningExecutor::FindPublished(
    const CacheKey& key) {
  absl::StatusOr<Record> record = context_.store->Lookup(key);
  if (record.ok()) return *std::move(record);
  if (absl::IsNotFound(record.status()) || absl::IsDataLoss(record.status())) {
    return std::nullopt;
  }
  return record.status();
}

absl::StatusOr<TuningExecutor::Submission> TuningExecutor::Submit(
    const tuning::TuningSpec& spec, const CacheKey& key, const Share& share,
    bool use_cache, const ModuleSupplier& module) {
  const std::string identity = Identity(key, spec.optimizer, spec.seed);
  while (true) {
    std::shared_ptr<Job> twin;
    std::shared_ptr<Creation> creation;
    bool creates = false;
    bool draining = false;
    {
      absl::MutexLock lock(&mu_);
      draining = draining_;
      if (auto it = by_identity_.find(identity); it != by_identity_.end()) {
        twin = it->second;
      } else if (!draining) {
        std::shared_ptr<Creation>& slot = creating_[identity];
        creates = slot == nullptr;
        if (creates) slot = std::make_shared<Creation>();
        creation = slot;
      }
    }
    if (creates) {
      // A twin that ended before this has published before it left the lists,
      // so the one lookup in Create finds its record.
      creation->result = Create(spec, key, share, use_cache, module, identity);
      {
        absl::MutexLock lock(&mu_);
        creating_.erase(identity);
      }
      creation->done.Notify();
      return creation->result;
    }
    if (use_cache && creation == nullptr) {
      HONE_ASSIGN_OR_RETURN(std::optional<Record> record, FindPublished(key));
      if (record) return Submission{Tuning(), std::move(record)};
    }
    if (draining) return RefuseWhileDraining();
    if (twin == nullptr) {
      creation->done.WaitForNotification();
      // A cached record is no answer to a caller that bypasses the cache, and
      // an error may be about the other caller only.
      const absl::StatusOr<Submission>& result = creation->result;
      if (!result.ok() || (result->cached && !use_cache)) continue;
      twin = result->cached ? nullptr : FindJob(result->tuning.id);
      if (twin == nullptr && !result->cached) {
        // It has ended meanwhile. A cancellation was not for this caller.
        HONE_ASSIGN_OR_RETURN(const Tuning ended,
                              context_.store->GetTuning(result->tuning.id));
        if (ended.state == TuningState::kCancelled) continue;
      }
      if (twin == nullptr) {
        metrics_.inflight_deduplications.Increment();
        return result;
      }
    }
    HONE_ASSIGN_OR_RETURN(std::optional<Submission> joined, Join(*twin, share));
    if (!joined.has_value()) continue;
    metrics_.inflight_deduplications.Increment();
    return *std::move(joined);
  }
}

absl::StatusOr<std::optional<TuningExecutor::Submission>> TuningExecutor::Join(
    Job& job, const Share& share) {
  absl::MutexLock lock(&job.mu);
  const auto is_settled = [&job] {
    job.mu.AssertReaderHeld();
    return !job.is_ending;
  };
  job.mu.Await(absl::Condition(&is_settled));
  if (job.update.tuning.state == TuningState::kCancelled) return std::nullopt;
  HONE_RETURN_IF_ERROR(job.shares.Add(share));
  return Submission{job.update.tuning, std::nullopt};
}

absl::StatusOr<TuningExecutor::Submission> TuningExecutor::Create(
    const tuning::TuningSpec& spec, const CacheKey& key, const Share& share,
    bool use_cache, const ModuleSupplier& module, const std::string& identity) {
  if (use_cache) {
    HONE_ASSIGN_OR_RETURN(std::optional<Record> record, FindPublished(key));
    if (record) return Submission{Tuning(), std::move(record)};
  }
  HONE_RETURN_IF_ERROR(CheckQueue());
  HONE_ASSIGN_OR_RETURN(const tuning::StoredModule stored, module());
  while (true) {
    HONE_ASSIGN_OR_RETURN(Tuning tuning,
                          tuning::CreateTuning(context_, spec, key, stored));
    std::shared_ptr<Job> twin;
    {
      absl::MutexLock lock(&mu_);
      // Drained meanwhile: the tuning is stored and continues after the next
      // start.
      if (draining_) return RefuseWhileDraining();
      if (auto it = active_.find(tuning.id); it != active_.end()) {
        twin = it->second;
      } else {
        auto job = std::make_shared<Job>(tuning, identity);
        {
          absl::MutexLock job_lock(&job->mu);
          HONE_RETURN_IF_ERROR(job->shares.Add(share));
        }
        Enqueue(std::move(job));
        return Submission{std::move(tuning), std::nullopt};
      }
    }
    // The store has found one that got its target after it was listed here.
    HONE_ASSIGN_OR_RETURN(std::optional<Submission> joined, Join(*twin, share));
    if (!joined.has_value()) continue;
    metrics_.inflight_deduplications.Increment();
    return *std::move(joined);
  }
}

absl::Status TuningExecutor::CheckQueue() {
  absl::MutexLock lock(&mu_);
  // The submission that asks is one of those being created.
  const size_t active = queue_.size() +
                        static_cast<size_t>(running_ - known_ended_) +
                        creating_.size() - 1;
  if (active < static_cast<size_t>(options_.max_queued) +
                   static_cast<size_t>(options_.max_running)) {
    return absl::OkStatus();
  }
  return WithRetryDelay(
      WithLimit(
          WithReason(absl::ResourceExhaustedError(absl::StrCat(
                         queue_.size(), " tunings wait, expected fewer than ",
                         options_.max_queued)),
                     "QUEUE_FULL", {{"queued", absl::StrCat(queue_.size())}}),
          "max_queued_tunings"),
      absl::Seconds(30));
}

std::shared_ptr<TuningExecutor::Job> TuningExecutor::FindJob(
    absl::string_view id) {
  absl::MutexLock lock(&mu_);
  auto it = active_.find(id);
  return it == active_.end() ? nullptr : it->second;
}

absl::StatusOr<TuningUpdate> TuningExecutor::Describe(Tuning tuning) {
  if (!storage::IsTerminal(tuning.state)) {
    if (std::shared_ptr<Job> job = FindJob(tuning.id)) {
      absl::MutexLock lock(&job->mu);
      return job->update;
    }
  }
  TuningUpdate update;
  update.progress = StoredProgress(tuning);
  if (storage::IsTerminal(tuning.state)) {
    update.progress.phase = tuning::Progress::Phase::kDone;
  } else {
    update.draining = draining();
  }
  if (tuning.state == TuningState::kSucceeded) {
    absl::StatusOr<Record> record = context_.store->Lookup(tuning.key);
    if (record.ok()) {
      update.progress.unit = record->unit;
      update.record = *std::move(record);
    } else if (!absl::IsNotFound(record.status())) {  // Invalidated since.
      return record.status();
    }
  }
  update.tuning = std::move(tuning);
  return update;
}

absl::StatusOr<TuningUpdate> TuningExecutor::Get(absl::string_view id) {
  if (std::shared_ptr<Job> job = FindJob(id)) {
    absl::MutexLock lock(&job->mu);
    return job->update;
  }
  HONE_ASSIGN_OR_RETURN(Tuning tuning, context_.store->GetTuning(id));
  return Describe(std::move(tuning));
}

absl::StatusOr<TuningExecutor::Subscription> TuningExecutor::Subscribe(
    absl::string_view id, Listener listener) {
  std::shared_ptr<Job> job = FindJob(id);
  if (job == nullptr) {
    HONE_ASSIGN_OR_RETURN(TuningUpdate update, Get(id));
    // Not queued and not ended: only while the daemon shuts down.
    update.draining = !storage::IsTerminal(update.tuning.state);
    listener(update);
    return Subscription();
  }
  absl::MutexLock lock(&job->mu);
  listener(job->update);
  const int64_t listener_id = job->next_listener++;
  job->listeners.emplace(listener_id, std::move(listener));
  return Subscription(job, listener_id);
}

absl::StatusOr<TuningExecutor::Departure> TuningExecutor::Leave(
    absl::string_view id, const Share& share, bool force) {
  const std::shared_ptr<Job> job = FindJob(id);
  if (job == nullptr) {
    HONE_ASSIGN_OR_RETURN(Tuning tuning, Cancel(id));
    return Departure{std::move(tuning), 0};
  }
  {
    absl::MutexLock lock(&job->mu);
    if (!force) {
      HONE_RETURN_IF_ERROR(job->shares.Remove(share));
      if (job->shares.size() > 0) {
        return Departure{job->update.tuning, job->shares.size()};
      }
    }
    job->is_ending = true;
  }
  absl::StatusOr<Tuning> tuning = Cancel(id);
  {
    absl::MutexLock lock(&job->mu);
    job->is_ending = false;
  }
  HONE_RETURN_IF_ERROR(tuning.status());
  return Departure{*std::move(tuning), 0};
}

absl::StatusOr<Tuning> TuningExecutor::Cancel(absl::string_view id) {
  const absl::Status status =
      context_.store->SetTuningState(id, TuningState::kCancelled, "");
  if (absl::IsFailedPrecondition(status)) {
    return WithReason(status, "TUNING_FINISHED", {{"id", std::string(id)}});
  }
  HONE_RETURN_IF_ERROR(status);
  HONE_ASSIGN_OR_RETURN(Tuning tuning, context_.store->GetTuning(id));
  metrics_.TuningsFinished(tuning.key.task, "cancelled").Increment();
  if (std::shared_ptr<Job> job = FindJob(id)) {
    job->stop = true;
    Detach(*job);
    job->Notify([&](TuningUpdate& update) {
      update.tuning = tuning;
      update.progress.phase = tuning::Progress::Phase::kDone;
    });
  }
  return tuning;
}

bool TuningExecutor::Detach(const Job& job) {
  absl::MutexLock lock(&mu_);
  auto it = active_.find(job.id);
  if (it == active_.end() || it->second.get() != &job) return false;
  by_identity_.erase(job.identity);
  queue_.erase(std::remove(queue_.begin(), queue_.end(), it->second),
               queue_.end());
  active_.erase(it);
  UpdateGauges();
  return true;
}

void TuningExecutor::UpdateGauges() {
  metrics_.queue_depth.Set(static_cast<double>(queue_.size()));
  metrics_.queue_oldest_timestamp.Set(
      queue_.empty()
          ? 0
          : absl::ToDoubleSeconds(queue_.front()->queued - absl::UnixEpoch()));
  // Those that wait for a device, too. One that was cancelled still runs for a
  // moment.
  metrics_.tunings_pending.Set(std::max(
      0.0,
      static_cast<double>(active_.size()) - static_cast<double>(running_)));
  metrics_.tunings_running.Set(running_);
}

void TuningExecutor::RunQueue() {
  absl::MutexLock lock(&mu_);
  while (true) {
    const auto ready = [this] {
      mu_.AssertReaderHeld();
      return draining_ || !queue_.empty();
    };
    mu_.Await(absl::Condition(&ready));
    if (draining_) return;
    std::shared_ptr<Job> job = std::move(queue_.front());
    queue_.pop_front();
    ++running_;
    UpdateGauges();
    mu_.Unlock();
    const bool is_known_ended = Run(job);
    // Not under the lock: it may end a wait for a device.
    job.reset();
    mu_.Lock();
    --running_;
    if (is_known_ended) --known_ended_;
    UpdateGauges();
  }
}

bool TuningExecutor::Run(const std::shared_ptr<Job>& job) {
  const TraceScope trace(job->traceparent);
  const absl::Duration start = SystemClock().Monotonic();
  metrics_.queue_wait.Observe(absl::ToDoubleSeconds(start - job->queued_at));
  {
    std::shared_ptr<void> waited;  // Ends after the lock.
    absl::MutexLock lock(&job->mu);
    waited.swap(job->device_wait);
  }
  job->Notify([](TuningUpdate& update) {
    update.tuning.state = TuningState::kRunning;
    update.waiting_for.clear();
  });
  tuning::RunOptions run;
  run.progress = [&](const tuning::Progress& progress) {
    // The end is reported with the outcome, below.
    if (progress.phase == tuning::Progress::Phase::kDone) return;
    job->Notify([&](TuningUpdate& update) {
      update.progress = progress;
      update.tuning.trials = progress.trials;
      update.tuning.default_cost = progress.default_cost;
      update.tuning.best_cost = progress.best_cost;
    });
  };
  run.stop = [&] { return job->stop.load(); };
  const absl::Status resolved = ResolveTarget(*job);
  if (!resolved.ok() && !absl::IsUnavailable(resolved)) {
    context_.store
        ->SetTuningState(job->id, TuningState::kFailed,
                         tuning::StoredError(resolved))
        .IgnoreError();
  }
  const absl::StatusOr<Record> result =
      resolved.ok() ? tuning::RunTuning(context_, job->id, run)
                    : absl::StatusOr<Record>(resolved);
  const double seconds =
      absl::ToDoubleSeconds(SystemClock().Monotonic() - start);
  if (TriesAgain(job, result.status()) || Parks(job, result.status())) {
    return false;
  }
  metrics_.tuning_duration.Observe(seconds);
  TuningUpdate last = FinalUpdate(*job, result);
  spdlog::info(
      "tuning {} {} after {:.1f} s{}", job->id,
      last.draining ? "stopped"
                    : std::string(storage::TuningStateName(last.tuning.state)),
      seconds,
      result.ok() ? "" : absl::StrCat(": ", result.status().message()));
  // Cancel has counted those that it ended.
  if (!last.draining && last.tuning.state != TuningState::kCancelled) {
    metrics_
        .TuningsFinished(
            last.tuning.key.task,
            std::string(storage::TuningStateName(last.tuning.state)))
        .Increment();
  }
  if (last.record.has_value() && last.record->best_cost > 0) {
    metrics_.tuning_speedup.Observe(last.record->default_cost /
                                    last.record->best_cost);
  }
  // Metrics are up to date before listeners know. False: Cancel has notified.
  if (!Detach(*job)) return false;
  {
    // Whoever hears of the end may submit another in its place.
    absl::MutexLock lock(&mu_);
    ++known_ended_;
  }
  job->Notify([&](TuningUpdate& update) {
    last.progress.seconds = update.progress.seconds;
    update = last;
  });
  return true;
}

bool TuningExecutor::TriesAgain(const std::shared_ptr<Job>& job,
                                const absl::Status& status) {
  if (!tuning::IsProcessFailure(status)) return false;
  std::string digest;
  {
    absl::MutexLock lock(&job->mu);
    digest = job->update.tuning.module_digest;
  }
  quarantine_.Count(digest, status);
  if (++job->process_failures >= Quarantine::kMaxFailures) {
    // If the store is the cause, the tuning stays to be resumed.
    context_.store
        ->SetTuningState(job->id, TuningState::kFailed,
                         absl::StrCat(status.message(), ", ",
                                      job->process_failures, " times"))
        .IgnoreError();
    return false;
  }
  spdlog::warn("tuning {}: {}; it is resumed", job->id,
               std::string(status.message()));
  context_.store->SetTuningState(job->id, TuningState::kPending, "")
      .IgnoreError();
  job->Notify([](TuningUpdate& update) {
    update.tuning.state = TuningState::kPending;
  });
  absl::MutexLock lock(&mu_);
  // Cancelled, or drained, meanwhile.
  if (draining_ || !active_.contains(job->id)) return true;
  queue_.push_back(job);
  UpdateGauges();
  return true;
}

absl::Status TuningExecutor::ResolveTarget(Job& job) {
  storage::CacheKey key;
  {
    absl::MutexLock lock(&job.mu);
    key = job.update.tuning.key;
  }
  HONE_ASSIGN_OR_RETURN(const tuning::Task* task, tuning::FindTask(key.task));
  HONE_ASSIGN_OR_RETURN(const std::string target,
                        task->ResolveTarget(key.target, context_.kernels));
  // A search without its device would wait for one, in a turn of others.
  if (IsDevice(target) && context_.kernels != nullptr) {
    HONE_RETURN_IF_ERROR(
        context_.kernels->AwaitDevice(target, /*stop=*/nullptr).status());
  }
  if (target == key.target) return absl::OkStatus();
  HONE_RETURN_IF_ERROR(context_.store->SetTuningTarget(job.id, target));
  job.Notify([&](TuningUpdate& update) { update.tuning.key.target = target; });
  return absl::OkStatus();
}

bool TuningExecutor::Parks(const std::shared_ptr<Job>& job,
                           const absl::Status& status) {
  if (!absl::IsUnavailable(status) || options_.wait_for_device == nullptr ||
      job->stop) {
    return false;
  }
  std::string target;
  {
    absl::MutexLock lock(&job->mu);
    target = job->update.tuning.key.target;
  }
  // A target that is no device does not become available by waiting for one.
  if (target != "cpu" && !IsDevice(target)) return false;
  job->Notify([&](TuningUpdate& update) {
    update.tuning.state = TuningState::kPending;
    update.waiting_for = std::string(status.message());
  });
  spdlog::info("tuning {} waits: {}", job->id, std::string(status.message()));
  int64_t waits = 0;
  {
    absl::MutexLock lock(&job->mu);
    waits = ++job->device_waits;
  }
  std::shared_ptr<void> wait = options_.wait_for_device(
      target, [this, weak = std::weak_ptr<Job>(job)] { Unpark(weak); });
  absl::MutexLock lock(&job->mu);
  // If the device came at once, another thread may have run it and parked it
  // again: this wait is over then.
  if (job->device_waits == waits) wait.swap(job->device_wait);
  return true;
}

void TuningExecutor::Unpark(const std::weak_ptr<Job>& weak) {
  std::shared_ptr<Job> job = weak.lock();
  if (job == nullptr) return;
  absl::MutexLock lock(&mu_);
  if (draining_ || !active_.contains(job->id)) return;
  queue_.push_back(std::move(job));
  UpdateGauges();
}

TuningUpdate TuningExecutor::FinalUpdate(const Job& job,
                                         const absl::StatusOr<Record>& result) {
  absl::StatusOr<TuningUpdate> update;
  if (absl::StatusOr<Tuning> tuning = context_.store->GetTuning(job.id);
      tuning.ok()) {
    update = Describe(*std::move(tuning));
  }
  if (!update.ok() || !update->settled()) {
    // The store could not take the outcome, so the tuning is resumed at the
    // next start. For its subscribers it failed.
    TuningUpdate failed;
    if (update.ok()) failed = *std::move(update);
    failed.tuning.id = job.id;
    failed.tuning.state = TuningState::kFailed;
    failed.tuning.error = result.ok() ? "the outcome could not be stored"
                                      : tuning::StoredError(result.status());
    return failed;
  }
  return *std::move(update);
}

void TuningExecutor::Drain() {
  std::vector<std::shared_ptr<Job>> jobs;
  {
    absl::MutexLock lock(&mu_);
    if (draining_) return;
    draining_ = true;
    queue_.clear();
    UpdateGauges();
    for (const auto& [_, job] : active_) jobs.push_back(job);
  }
  for (const std::shared_ptr<Job>& job : jobs) {
    // Notified before it stops, so that its end does not look like a failure.
    job->Notify([](TuningUpdate& update) { update.draining = true; });
    job->stop = true;
  }
}

bool TuningExecutor::draining() const {
  absl::MutexLock lock(&mu_);
  return draining_;
}

bool TuningExecutor::AwaitStopped(absl::Duration timeout) {
  absl::MutexLock lock(&mu_);
  const auto stopped = [this] {
    mu_.AssertReaderHeld();
    return running_ == 0;
  };
  return mu_.AwaitWithTimeout(absl::Condition(&stopped), timeout);
}

TuningExecutor::Subscription::Subscription(std::shared_ptr<Job> job, int64_t id)
    : job_(std::move(job)), id_(id) {}

TuningExecutor::Subscription::Subscription(Subscription&& other) noexcept
    : job_(std::move(other.job_)), id_(other.id_) {}

TuningExecutor::Subscription& TuningExecutor::Subscription::operator=(
    Subscription&& other) noexcept {
  std::swap(job_, other.job_);
  std::swap(id_, other.id_);
  return *this;
}

TuningExecutor::Subscription::~Subscription() {
  if (job_ == nullptr) return;
  absl::MutexLock lock(&job_->mu);
  job_->listeners.erase(id_);
}

}  // namespace hone::daemon
