#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

#include "base/status_macros.h"
#include "tuning/producer.h"
#include "tuning/registry.h"
#include "tuning/resumed_log.h"
#include "tuning/search.h"
#include "tuning/stored_error.h"
#include "tuning/trial_writer.h"
#include "tuning/tuner.h"
#include "tuning/warm_start.h"

namespace hone::tuning {
namespace {

// Reports a search's progress, but counts only the trials that are stored, so
// that a crash does not take back what was reported. Threads: thread-safe.
class StoredProgress {
 public:
  StoredProgress(const ProgressCallback& callback,
                 const std::vector<space::Trial>& stored)
      : callback_(callback) {
    for (const space::Trial& trial : stored) AddTrial(trial, stored_);
  }

  void OnStored(const space::Trial& trial) {
    absl::MutexLock lock(&mu_);
    AddTrial(trial, stored_);
    Report();
  }
  void OnProgress(const Progress& progress) {
    absl::MutexLock lock(&mu_);
    // The trials of a search are reported once they are stored.
    const bool has_news = progress.phase != stored_.phase;
    stored_.phase = progress.phase;
    stored_.budget_trials = progress.budget_trials;
    stored_.unit = progress.unit;
    stored_.seconds = progress.seconds;
    if (progress.phase == Progress::Phase::kDone) {
      stored_.best_cost = progress.best_cost;
    }
    if (has_news) Report();
  }

 private:
  void Report() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (callback_) callback_(stored_);
  }

  const ProgressCallback& callback_;
  absl::Mutex mu_;
  Progress stored_ ABSL_GUARDED_BY(mu_);
};

absl::StatusOr<Found> Search(const TunerContext& context,
                             const storage::Tuning& tuning,
                             const RunOptions& options) {
  storage::Store& store = *context.store;
  SearchJob job;
  job.tuning = tuning;
  HONE_ASSIGN_OR_RETURN(job.module, store.GetBlob(tuning.module_digest));
  ResumedLog log;
  HONE_RETURN_IF_ERROR(store.ForEachTrial(
      tuning.id, [&](space::Trial trial) { log.Add(std::move(trial)); }));
  job.trials = log.Take();
  job.start = FindStarts(store, tuning.key);
  StoredProgress progress(options.progress, job.trials);
  TrialWriter writer(
      store, *context.clock, tuning.id,
      [&](const space::Trial& trial) { progress.OnStored(trial); });
  const SearchEvents events = {
      .progress =
          [&](const Progress& p) {
            // All trials come before the verification. If they cannot be
            // stored, the last Flush says so.
            if (p.phase == Progress::Phase::kVerifying) {
              writer.Flush().IgnoreError();
            }
            progress.OnProgress(p);
          },
      .stop = options.stop,
      .on_trial = [&](const space::Trial& trial) { return writer.Add(trial); }};
  LocalSearcher here(*context.clock, context.pool, context.kernels);
  Searcher& searcher = context.searcher == nullptr ? here : *context.searcher;
  absl::StatusOr<Found> found = searcher.Search(job, events);
  // Measured trials are kept, whatever ended the search.
  const absl::Status flushed = writer.Flush();
  if (found.ok()) HONE_RETURN_IF_ERROR(flushed);
  return found;
}

absl::StatusOr<storage::Record> Publish(storage::Store& store,
                                        const storage::Tuning& tuning,
                                        Found found, absl::Time now) {
  storage::Record record;
  record.key = tuning.key;
  record.module_name = tuning.module_name;
  record.unit = std::move(found.unit);
  record.default_cost = found.default_cost;
  record.best_cost = found.best_cost;
  record.decision = std::move(found.decision);
  if (!found.tuned_module.empty()) {
    HONE_ASSIGN_OR_RETURN(record.tuned_module_digest,
                          store.PutBlob(found.tuned_module));
  }
  record.optimizer = tuning.optimizer;
  record.seed = tuning.seed;
  record.trials = found.trials;
  record.seconds = found.seconds;
  record.verification = std::move(found.verification);
  record.tuning_id = tuning.id;
  record.producer = Producer();
  record.created = now;
  // The record last: it ends the tuning.
  HONE_ASSIGN_OR_RETURN(const Task* const task, FindTask(tuning.key.task));
  for (const storage::Record& part : task->RecordsOfParts(record)) {
    HONE_RETURN_IF_ERROR(store.Publish(part).status());
  }
  HONE_RETURN_IF_ERROR(store.Publish(record).status());
  return record;
}

}  // namespace

absl::StatusOr<storage::Record> RunTuning(const TunerContext& context,
                                          absl::string_view tuning_id,
                                          const RunOptions& options) {
  storage::Store& store = *context.store;
  HONE_ASSIGN_OR_RETURN(const storage::Tuning tuning,
                        store.GetTuning(tuning_id));
  HONE_RETURN_IF_ERROR(
      store.SetTuningState(tuning_id, storage::TuningState::kRunning, ""));
  absl::StatusOr<Found> found = Search(context, tuning, options);
  absl::StatusOr<storage::Record> record =
      found.ok()
          ? Publish(store, tuning, *std::move(found), context.clock->Now())
          : absl::StatusOr<storage::Record>(found.status());
  if (absl::IsCancelled(record.status()) ||
      absl::IsUnavailable(record.status())) {
    // The caller may have stopped it by setting another state.
    store.SetTuningState(tuning_id, storage::TuningState::kPending, "")
        .IgnoreError();
  } else if (!record.ok() && !IsProcessFailure(record.status())) {
    // If the store is the cause, the tuning stays to be resumed.
    store
        .SetTuningState(tuning_id, storage::TuningState::kFailed,
                        StoredError(record.status()))
        .IgnoreError();
  }
  return record;
}

}  // namespace hone::tuning
