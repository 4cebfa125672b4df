#include "daemon/tuning_executor.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"
#include <spdlog/spdlog.h>

#include "base/status_macros.h"
#include "daemon/errors.h"

namespace hone::daemon {
namespace {

using storage::CacheKey;
using storage::Record;
using storage::Tuning;
using storage::TuningState;

// Budgets are left out: who asks for the same search again gets the one that
// runs.
std::string Identity(const CacheKey& key, absl::string_view optimizer,
                     uint64_t seed) {
  return absl::StrCat(key.Digest(), "/", optimizer, "/", seed);
}

}  // namespace

// A queued or running tuning. Locked after TuningExecutor::mu_.
struct TuningExecutor::Job {
  Job(Tuning tuning, std::string job_identity)
      : id(tuning.id), identity(std::move(job_identity)) {
    update.progress.trials = tuning.trials;
    update.progress.budget_trials = tuning.budget.trials;
    update.progress.default_cost = tuning.default_cost;
    update.progress.best_cost = tuning.best_cost;
    update.tuning = std::move(tuning);
  }

  const std::string id;
  const std::string identity;
  const absl::Time queued = SystemClock().Now();
  const absl::Duration queued_at = SystemClock().Monotonic();
  std::atomic<bool> stop = false;

  absl::Mutex mu;
  TuningUpdate update ABSL_GUARDED_BY(mu);
  int64_t next_listener ABSL_GUARDED_BY(mu) = 1;
  absl::flat_hash_map<int64_t, Listener> listeners ABSL_GUARDED_BY(mu);

  // Changes the update by `change` and tells everybody, unless it is settled.
  template <typename Change>
  void Notify(Change change) ABSL_LOCKS_EXCLUDED(mu) {
    absl::MutexLock lock(&mu);
    if (update.settled()) return;
    change(update);
    for (const auto& [_, listener] : listeners) listener(update);
  }
};

TuningExecutor::TuningExecutor(const tuning::TunerContext& context,
                               Metrics& metrics, const Options& options)
    : context_(context), metrics_(metrics), options_(options) {
  for (int i = 0; i < options.max_running; ++i) {
    threads_.emplace_back([this] { Work(); });
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

void TuningExecutor::Enqueue(std::shared_ptr<Job> job) {
  active_[job->id] = job;
  by_identity_[job->identity] = job;
  queue_.push_back(std::move(job));
  UpdateGauges();
}

absl::StatusOr<TuningExecutor::Submission> TuningExecutor::Submit(
    const hlo::Module& module, const tuning::TuneRequest& request,
    const CacheKey& key, bool use_cache) {
  const std::string identity = Identity(key, request.optimizer, request.seed);
  absl::MutexLock create(&create_mu_);
  std::shared_ptr<Job> twin;
  {
    absl::MutexLock lock(&mu_);
    if (draining_) {
      metrics_.RpcRejected("draining").Increment();
      return DrainingError();
    }
    auto it = by_identity_.find(identity);
    if (it != by_identity_.end()) twin = it->second;
  }
  if (twin != nullptr) {
    metrics_.inflight_deduplications.Increment();
    absl::MutexLock lock(&twin->mu);
    return Submission{twin->update.tuning, /*joined=*/true, std::nullopt};
  }
  // A twin that ended until just now has published before it left the list.
  if (use_cache) {
    absl::StatusOr<Record> record = context_.store->Lookup(key);
    if (record.ok())
      return Submission{Tuning(), /*joined=*/false, *std::move(record)};
    if (!absl::IsNotFound(record.status()) &&
        !absl::IsDataLoss(record.status())) {
      return record.status();
    }
  }
  {
    absl::MutexLock lock(&mu_);
    if (queue_.size() + static_cast<size_t>(running_) >=
        static_cast<size_t>(options_.max_queued + options_.max_running)) {
      metrics_.RpcRejected("queue_full").Increment();
      return WithRetryDelay(
          WithReason(absl::ResourceExhaustedError(absl::StrCat(
                         queue_.size(), " tunings wait, expected fewer than ",
                         options_.max_queued)),
                     "QUEUE_FULL", {{"queued", absl::StrCat(queue_.size())}}),
          absl::Seconds(30));
    }
  }
  HONE_ASSIGN_OR_RETURN(Tuning tuning,
                        tuning::CreateTuning(context_, module, request));
  absl::MutexLock lock(&mu_);
  // Drained meanwhile: it is stored and goes on after the next start.
  if (draining_) return DrainingError();
  Enqueue(std::make_shared<Job>(tuning, identity));
  return Submission{std::move(tuning), /*joined=*/false, std::nullopt};
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
  update.progress.trials = tuning.trials;
  update.progress.budget_trials = tuning.budget.trials;
  update.progress.default_cost = tuning.default_cost;
  update.progress.best_cost = tuning.best_cost;
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
  metrics_.tunings_pending.Set(static_cast<double>(queue_.size()));
  metrics_.tunings_running.Set(running_);
}

void TuningExecutor::Work() {
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
    Run(job);
    mu_.Lock();
    --running_;
    UpdateGauges();
  }
}

void TuningExecutor::Run(const std::shared_ptr<Job>& job) {
  const absl::Duration start = SystemClock().Monotonic();
  metrics_.queue_wait.Observe(absl::ToDoubleSeconds(start - job->queued_at));
  job->Notify([](TuningUpdate& update) {
    update.tuning.state = TuningState::kRunning;
  });
  const absl::StatusOr<Record> result = tuning::RunTuning(
      context_, job->id,
      [&](const tuning::Progress& progress) {
        // The end is told with the outcome, below.
        if (progress.phase == tuning::Progress::Phase::kDone) return;
        job->Notify([&](TuningUpdate& update) {
          update.progress = progress;
          update.tuning.trials = progress.trials;
          update.tuning.default_cost = progress.default_cost;
          update.tuning.best_cost = progress.best_cost;
        });
      },
      [&] { return job->stop.load(); });
  const double seconds =
      absl::ToDoubleSeconds(SystemClock().Monotonic() - start);
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
  // Counted before anybody can know of it. False: cancelled, and told.
  if (!Detach(*job)) return;
  job->Notify([&](TuningUpdate& update) {
    last.progress.seconds = update.progress.seconds;
    update = last;
  });
}

TuningUpdate TuningExecutor::FinalUpdate(const Job& job,
                                         const absl::StatusOr<Record>& result) {
  absl::StatusOr<TuningUpdate> update;
  if (absl::StatusOr<Tuning> tuning = context_.store->GetTuning(job.id);
      tuning.ok()) {
    update = Describe(*std::move(tuning));
  }
  if (!update.ok() || !update->settled()) {
    // The store could not take the outcome: the tuning is resumed at the next
    // start. For those who follow it now, it failed.
    TuningUpdate failed;
    if (update.ok()) failed = *std::move(update);
    failed.tuning.id = job.id;
    failed.tuning.state = TuningState::kFailed;
    failed.tuning.error = result.ok() ? "the outcome could not be stored"
                                      : std::string(result.status().message());
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
    // Told before it stops, so that its end is not taken for a failure.
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
