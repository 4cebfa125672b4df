#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "hlo/analysis/fingerprint.h"
#include "optimizers/registry.h"
#include "optimizers/search.h"
#include "tuning/cache_key.h"
#include "tuning/producer.h"
#include "tuning/registry.h"
#include "tuning/stored_module.h"
#include "tuning/trial_writer.h"
#include "tuning/tuner.h"
#include "tuning/winner.h"

namespace hone::tuning {
namespace {

// The number of trials with noisy costs that are judged once more.
constexpr size_t kFinalists = 3;

// One call of RunTuning.
class Run {
 public:
  Run(const TunerContext& context, storage::Tuning tuning,
      const RunOptions& options)
      : context_(context),
        store_(*context.store),
        tuning_(std::move(tuning)),
        run_options_(options),
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
    HONE_RETURN_IF_ERROR(store_.Publish(record).status());
    progress_.best_cost = record.best_cost;
    Report(Progress::Phase::kDone);
    return record;
  }

 private:
  bool Stopped() const { return run_options_.stop && run_options_.stop(); }

  void Report(Progress::Phase phase) {
    if (!run_options_.progress) return;
    progress_.phase = phase;
    progress_.seconds = Seconds();
    run_options_.progress(progress_);
  }

  double Seconds() const {
    return absl::ToDoubleSeconds(context_.clock->Monotonic() - start_);
  }

  // Prepares task, module and problem.
  absl::Status Prepare() {
    HONE_ASSIGN_OR_RETURN(task_, FindTask(tuning_.key.task));
    if (tuning_.key.space_version != task_->space_version()) {
      return absl::FailedPreconditionError(
          absl::StrCat("tuning '", tuning_.id, "' is of search space '",
                       tuning_.key.space_version, "', expected '",
                       task_->space_version(), "'"));
    }
    HONE_ASSIGN_OR_RETURN(options_, ParseOptionsKey(tuning_.key.task_options));
    if (run_options_.module.has_value()) {
      module_ = *run_options_.module;
    } else {
      HONE_RETURN_IF_ERROR(ReadModule());
    }
    HONE_ASSIGN_OR_RETURN(problem_,
                          task_->MakeProblem(module_, options_,
                                             {.target = tuning_.key.target,
                                              .kernels = context_.kernels,
                                              .stop = run_options_.stop}));
    progress_.unit = std::string(problem_->unit());
    progress_.budget_trials = tuning_.budget.trials;
    return absl::OkStatus();
  }

  absl::Status ReadModule() {
    HONE_ASSIGN_OR_RETURN(module_,
                          ReadStoredModule(store_, tuning_.module_digest));
    if (hlo::Fingerprint(module_) != tuning_.key.module_fingerprint) {
      return absl::InternalError(
          absl::StrCat("the stored module '", tuning_.module_name,
                       "' has another fingerprint than the key of tuning '",
                       tuning_.id, "'"));
    }
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
    problem_->Recall(log);
    TrialWriter writer(store_, *context_.clock, tuning_.id);
    optimizers::SearchOptions search;
    search.resume = log;
    search.stop = run_options_.stop;
    search.on_trial = [&](const space::Trial& trial) {
      Note(trial);
      Report(Progress::Phase::kSearching);
      return writer.Add(trial);
    };
    absl::StatusOr<optimizers::SearchResult> result = optimizers::RunSearch(
        *problem_, *optimizer, tuning_.budget, *context_.clock, search);
    // Measured trials are kept, whatever ended the search.
    const absl::Status flushed = writer.Flush();
    if (result.ok()) HONE_RETURN_IF_ERROR(flushed);
    return result;
  }

  // Adds a trial to the progress.
  void Note(const space::Trial& trial) {
    ++progress_.trials;
    if (trial.measurement.outcome != space::Outcome::kOk) return;
    const double cost = trial.measurement.cost;
    if (trial.id == 0) progress_.default_cost = cost;
    progress_.best_cost = std::min(progress_.best_cost.value_or(cost), cost);
  }

  // Returns the candidates that may be published, best first: the winner and
  // the default. If costs are noisy, the cheapest few trials compete for the
  // first place.
  absl::StatusOr<std::vector<Finalists>> Groups(
      const optimizers::SearchResult& result) const {
    std::vector<Finalists> groups;
    const space::Candidate by_default = problem_->DefaultCandidate();
    if (problem_->is_noisy()) {
      HONE_ASSIGN_OR_RETURN(Finalists best, CheapestTrials(by_default));
      if (!best.empty()) groups.push_back(std::move(best));
      groups.push_back({by_default});
      return groups;
    }
    if (result.best) {
      groups.push_back({result.best->candidate});
    }
    if (groups.empty() || groups.back()[0] != by_default) {
      groups.push_back({by_default});
    }
    return groups;
  }

  // Returns the cheapest trials; of those that cost the same (transpositions),
  // the first.
  absl::StatusOr<Finalists> CheapestTrials(
      const space::Candidate& by_default) const {
    HONE_ASSIGN_OR_RETURN(std::vector<space::Trial> trials,
                          store_.ListTrials(tuning_.id));
    std::stable_sort(trials.begin(), trials.end(),
                     [](const space::Trial& a, const space::Trial& b) {
                       return space::EffectiveCost(a.measurement) <
                              space::EffectiveCost(b.measurement);
                     });
    Finalists finalists;
    double last_cost = 0;
    for (const space::Trial& trial : trials) {
      const double cost = space::EffectiveCost(trial.measurement);
      if (finalists.size() == kFinalists || std::isinf(cost)) break;
      if (trial.candidate == by_default) break;  // The rest is no better.
      if (cost == last_cost) continue;
      last_cost = cost;
      finalists.push_back(trial.candidate);
    }
    return finalists;
  }

  absl::StatusOr<storage::Record> Conclude(
      const optimizers::SearchResult& result) {
    VerifyOptions verify;
    verify.pool = context_.pool;
    verify.seed = tuning_.seed;
    HONE_ASSIGN_OR_RETURN(const std::vector<Finalists> groups, Groups(result));
    absl::StatusOr<Winner> chosen =
        ChooseWinner(*task_, module_, *problem_, groups, verify);
    // Beyond the limits of evaluation it could not be either.
    if (absl::IsFailedPrecondition(chosen.status()) ||
        absl::IsResourceExhausted(chosen.status()) ||
        absl::IsDeadlineExceeded(chosen.status())) {
      return absl::FailedPreconditionError(
          absl::StrCat("not even the default could be verified: ",
                       chosen.status().message()));
    }
    HONE_ASSIGN_OR_RETURN(Winner winner, std::move(chosen));
    storage::Record record;
    record.key = tuning_.key;
    record.module_name = tuning_.module_name;
    record.unit = std::string(problem_->unit());
    HONE_ASSIGN_OR_RETURN(record.default_cost, DefaultCost(result));
    record.best_cost = winner.cost;
    record.decision = std::move(winner.applied.decision);
    HONE_ASSIGN_OR_RETURN(record.tuned_module_digest,
                          StoreModule(store_, winner.applied.module));
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

  absl::StatusOr<double> DefaultCost(
      const optimizers::SearchResult& result) const {
    if (result.baseline) return result.baseline->measurement.cost;
    HONE_ASSIGN_OR_RETURN(const space::Measurement measurement,
                          problem_->Measure(problem_->DefaultCandidate()));
    return measurement.cost;
  }

  const TunerContext& context_;
  storage::Store& store_;
  const storage::Tuning tuning_;
  const RunOptions& run_options_;
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
                                          const RunOptions& options) {
  storage::Store& store = *context.store;
  HONE_ASSIGN_OR_RETURN(storage::Tuning tuning, store.GetTuning(tuning_id));
  HONE_RETURN_IF_ERROR(
      store.SetTuningState(tuning_id, storage::TuningState::kRunning, ""));
  absl::StatusOr<storage::Record> record =
      Run(context, std::move(tuning), options).Finish();
  if (absl::IsCancelled(record.status()) ||
      absl::IsUnavailable(record.status())) {
    // The caller may have stopped it by setting another state.
    store.SetTuningState(tuning_id, storage::TuningState::kPending, "")
        .IgnoreError();
  } else if (!record.ok()) {
    // If the store is the cause, the tuning stays to be resumed.
    store
        .SetTuningState(tuning_id, storage::TuningState::kFailed,
                        record.status().message())
        .IgnoreError();
  }
  return record;
}

}  // namespace hone::tuning
