#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "hlo/fingerprint.h"
#include "hlo/text_printer.h"
#include "optimizers/registry.h"
#include "optimizers/search.h"
#include "tuning/cache_key.h"
#include "tuning/minimize.h"
#include "tuning/producer.h"
#include "tuning/stored_module.h"
#include "tuning/trial_writer.h"
#include "tuning/tuner.h"
#include "tuning/winner.h"

namespace hone::tuning {
namespace {

// One call of RunTuning.
class Run {
 public:
  Run(const TunerContext& context, storage::Tuning tuning,
      const ProgressCallback& callback, const StopPredicate& stop)
      : context_(context),
        store_(*context.store),
        tuning_(std::move(tuning)),
        callback_(callback),
        stop_(stop),
        start_(context.clock->Monotonic()) {}

  absl::StatusOr<storage::Record> Finish() {
    HONE_RETURN_IF_ERROR(Prepare());
    HONE_ASSIGN_OR_RETURN(const optimizers::SearchResult result, Search());
    if (result.end == optimizers::SearchEnd::kStopped || Stopped()) {
      return absl::CancelledError(absl::StrCat("tuning '", tuning_.id,
                                               "' was stopped after ",
                                               result.trials, " trials"));
    }
    Report(Progress::Phase::kVerifying);
    HONE_ASSIGN_OR_RETURN(const storage::Record record, Conclude(result));
    HONE_RETURN_IF_ERROR(Publish(record));
    progress_.best_cost = record.best_cost;
    Report(Progress::Phase::kDone);
    return record;
  }

 private:
  bool Stopped() const { return stop_ && stop_(); }

  void Report(Progress::Phase phase) {
    if (!callback_) return;
    progress_.phase = phase;
    progress_.seconds = Seconds();
    callback_(progress_);
  }

  double Seconds() const {
    return absl::ToDoubleSeconds(context_.clock->Monotonic() - start_);
  }

  // Gets module, task and problem ready.
  absl::Status Prepare() {
    HONE_ASSIGN_OR_RETURN(task_, FindTask(tuning_.key.task));
    if (tuning_.key.space_version != task_->space_version()) {
      return absl::FailedPreconditionError(
          absl::StrCat("tuning '", tuning_.id, "' is of search space '",
                       tuning_.key.space_version, "', expected '",
                       task_->space_version(), "'"));
    }
    HONE_ASSIGN_OR_RETURN(options_, ParseOptionsKey(tuning_.key.task_options));
    HONE_ASSIGN_OR_RETURN(module_, LoadModule(store_, tuning_.module_digest));
    if (hlo::Fingerprint(module_) != tuning_.key.module_fingerprint) {
      return absl::InternalError(absl::StrCat("module '", tuning_.module_name,
                                              "' is read back with another "
                                              "fingerprint"));
    }
    HONE_ASSIGN_OR_RETURN(problem_, task_->MakeProblem(module_, options_));
    progress_.unit = std::string(problem_->unit());
    progress_.budget_trials = tuning_.budget.trials;
    return absl::OkStatus();
  }

  absl::StatusOr<optimizers::SearchResult> Search() {
    optimizers::OptimizerOptions options;
    options.seed = tuning_.seed;
    HONE_ASSIGN_OR_RETURN(
        const std::unique_ptr<optimizers::Optimizer> optimizer,
        optimizers::CreateOptimizer(tuning_.optimizer, *problem_, options));
    HONE_ASSIGN_OR_RETURN(const std::vector<space::Trial> log,
                          store_.ListTrials(tuning_.id));
    for (const space::Trial& trial : log) Note(trial);
    TrialWriter writer(store_, *context_.clock, tuning_.id);
    optimizers::SearchOptions search;
    search.resume = log;
    search.stop = stop_;
    search.on_trial = [&](const space::Trial& trial) {
      Note(trial);
      Report(Progress::Phase::kSearching);
      return writer.Add(trial);
    };
    HONE_ASSIGN_OR_RETURN(
        optimizers::SearchResult result,
        optimizers::RunSearch(*problem_, *optimizer, tuning_.budget,
                              *context_.clock, search));
    HONE_RETURN_IF_ERROR(writer.Flush());
    return result;
  }

  // Takes a trial into the progress.
  void Note(const space::Trial& trial) {
    ++progress_.trials;
    if (trial.measurement.outcome != space::Outcome::kOk) return;
    const double cost = trial.measurement.cost;
    if (trial.id == 0) progress_.default_cost = cost;
    progress_.best_cost = std::min(progress_.best_cost.value_or(cost), cost);
  }

  // What may be published, best first: the winner, the default, and for a
  // rewrite step by step the module as it is.
  std::vector<space::Candidate> Choices(
      const optimizers::SearchResult& result) const {
    std::vector<space::Candidate> choices;
    const space::SequentialProblem* sequential = problem_->sequential();
    if (result.best) {
      const space::Candidate& best = result.best->candidate;
      choices.push_back(sequential == nullptr ? best
                                              : Minimize(*sequential, best));
    }
    if (space::Candidate by_default = problem_->DefaultCandidate();
        choices.empty() || choices.back() != by_default) {
      choices.push_back(std::move(by_default));
    }
    if (sequential != nullptr && !choices.back().choices.empty()) {
      choices.emplace_back();
    }
    return choices;
  }

  absl::StatusOr<storage::Record> Conclude(
      const optimizers::SearchResult& result) {
    VerifyOptions verify;
    verify.pool = context_.pool;
    verify.seed = tuning_.seed;
    HONE_ASSIGN_OR_RETURN(Winner winner,
                          FirstVerified(*task_, options_, module_, *problem_,
                                        Choices(result), verify));
    storage::Record record;
    record.key = tuning_.key;
    record.module_name = tuning_.module_name;
    record.unit = std::string(problem_->unit());
    record.default_cost =
        result.baseline ? result.baseline->measurement.cost
                        : problem_->Measure(problem_->DefaultCandidate()).cost;
    record.best_cost = winner.cost;
    record.decision = std::move(winner.applied.decision);
    HONE_ASSIGN_OR_RETURN(
        record.tuned_module_digest,
        store_.PutBlob(hlo::PrintModule(winner.applied.module)));
    record.optimizer = tuning_.optimizer;
    record.seed = tuning_.seed;
    record.trials = result.trials;
    record.seconds = Seconds();
    record.verification = std::move(winner.verification);
    record.tuning_id = tuning_.id;
    record.producer = Producer();
    record.created = context_.clock->Now();
    return record;
  }

  // Publishes unless the cache holds something better already.
  absl::Status Publish(const storage::Record& record) {
    const absl::StatusOr<storage::Record> present = store_.Lookup(record.key);
    if (present.ok() && present->best_cost < record.best_cost) {
      return store_.SetTuningState(tuning_.id, storage::TuningState::kSucceeded,
                                   "");
    }
    return store_.Publish(record);
  }

  const TunerContext& context_;
  storage::Store& store_;
  const storage::Tuning tuning_;
  const ProgressCallback& callback_;
  const StopPredicate& stop_;
  const absl::Duration start_;

  const Task* task_ = nullptr;
  TaskOptions options_;
  hlo::Module module_;
  std::unique_ptr<space::Problem> problem_;  // of module_
  Progress progress_;
};

}  // namespace

absl::StatusOr<storage::Record> RunTuning(const TunerContext& context,
                                          absl::string_view tuning_id,
                                          const ProgressCallback& progress,
                                          const StopPredicate& stop) {
  storage::Store& store = *context.store;
  HONE_ASSIGN_OR_RETURN(storage::Tuning tuning, store.GetTuning(tuning_id));
  HONE_RETURN_IF_ERROR(
      store.SetTuningState(tuning_id, storage::TuningState::kRunning, ""));
  absl::StatusOr<storage::Record> record =
      Run(context, std::move(tuning), progress, stop).Finish();
  if (absl::IsCancelled(record.status())) {
    // Whoever stopped it may have given it another state.
    store.SetTuningState(tuning_id, storage::TuningState::kPending, "")
        .IgnoreError();
  } else if (!record.ok()) {
    // When the store is the reason, the tuning stays to be resumed.
    store
        .SetTuningState(tuning_id, storage::TuningState::kFailed,
                        record.status().message())
        .IgnoreError();
  }
  return record;
}

}  // namespace hone::tuning
