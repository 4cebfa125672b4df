#include "tuning/search.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "hlo/text/printer.h"
#include "optimizers/optimizer_text.h"
#include "optimizers/registry.h"
#include "optimizers/search.h"
#include "tuning/best_parts.h"
#include "tuning/cache_key.h"
#include "tuning/registry.h"
#include "tuning/stored_module.h"
#include "tuning/subject.h"
#include "tuning/winner.h"

namespace hone::tuning {
namespace {

// The payload of errors that a process's end is behind.
constexpr absl::string_view kProcessFailure = "hone/process-failure";

// The number of trials with noisy costs that are judged once more.
constexpr size_t kFinalists = 3;

// One call of LocalSearcher::Search.
class Run {
 public:
  Run(const Clock& clock, ThreadPool* pool, backends::KernelMeasurer* kernels,
      const SearchJob& job, const SearchEvents& events)
      : clock_(clock),
        pool_(pool),
        kernels_(kernels),
        tuning_(job.tuning),
        job_(job),
        events_(events),
        start_(clock.Monotonic()) {}

  absl::StatusOr<Found> Finish() {
    HONE_RETURN_IF_ERROR(Prepare());
    HONE_ASSIGN_OR_RETURN(const optimizers::SearchResult result, Search());
    if (result.end == optimizers::SearchEnd::kStopped || Stopped()) {
      return absl::CancelledError(absl::StrCat("tuning '", tuning_.id,
                                               "' was stopped after ",
                                               result.trials, " trials"));
    }
    Report(Progress::Phase::kVerifying);
    HONE_ASSIGN_OR_RETURN(Found found, Conclude(result));
    progress_.best_cost = found.best_cost;
    Report(Progress::Phase::kDone);
    return found;
  }

 private:
  bool Stopped() const { return events_.stop && events_.stop(); }

  absl::Duration Elapsed() const { return clock_.Monotonic() - start_; }

  // Known candidates may take half of the time: they have to be measured, too.
  bool SeedsEnd() const { return Elapsed() >= tuning_.budget.time / 2; }

  void Report(Progress::Phase phase) {
    if (!events_.progress) return;
    progress_.phase = phase;
    progress_.seconds = Seconds();
    events_.progress(progress_);
  }

  double Seconds() const { return absl::ToDoubleSeconds(Elapsed()); }

  // Prepares task, subject and problem.
  absl::Status Prepare() {
    HONE_ASSIGN_OR_RETURN(task_, FindTask(tuning_.key.task));
    if (tuning_.key.space_version != task_->space_version()) {
      return absl::FailedPreconditionError(
          absl::StrCat("tuning '", tuning_.id, "' is of search space '",
                       tuning_.key.space_version, "', expected '",
                       task_->space_version(), "'"));
    }
    HONE_ASSIGN_OR_RETURN(options_, ParseOptionsKey(tuning_.key.task_options));
    HONE_RETURN_IF_ERROR(ReadSubject());
    HONE_ASSIGN_OR_RETURN(
        problem_,
        task_->MakeProblem(*subject_, options_,
                           {.target = tuning_.key.target,
                            .kernels = kernels_,
                            .stop = events_.stop,
                            .seeds_end = [this] { return SeedsEnd(); }}));
    best_parts_ =
        BestParts(dynamic_cast<const space::SeparableProblem*>(problem_.get()));
    progress_.unit = std::string(problem_->unit());
    progress_.budget_trials = tuning_.budget.trials;
    return absl::OkStatus();
  }

  absl::Status ReadSubject() {
    HONE_ASSIGN_OR_RETURN(subject_,
                          ParseStoredSubject(job_.module, tuning_.module_digest,
                                             tuning_.module_name));
    if (subject_->Fingerprint() != tuning_.key.module_fingerprint) {
      return absl::InternalError(
          absl::StrCat("the stored module '", tuning_.module_name,
                       "' has another fingerprint than the key of tuning '",
                       tuning_.id, "'"));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<optimizers::SearchResult> Search() {
    HONE_ASSIGN_OR_RETURN(optimizers::OptimizerChoice choice,
                          optimizers::ParseOptimizer(tuning_.optimizer));
    optimizers::OptimizerOptions& options = choice.options;
    options.seed = tuning_.seed;
    options.stop = [this] {
      return (events_.stop && events_.stop()) ||
             Elapsed() >= tuning_.budget.time;
    };
    for (const std::string& decision : job_.start) {
      std::optional<space::Candidate> start =
          task_->CandidateOf(*problem_, decision);
      if (start) options.start.push_back(*std::move(start));
    }
    HONE_ASSIGN_OR_RETURN(
        const std::unique_ptr<optimizers::Optimizer> optimizer,
        optimizers::CreateOptimizer(*choice.info, *problem_, options));
    for (const space::Trial& trial : job_.trials) Note(trial);
    problem_->Recall(job_.trials);
    optimizers::SearchOptions search;
    search.resume = job_.trials;
    search.stop = events_.stop;
    search.on_trial = [&](const space::Trial& trial) -> absl::Status {
      Note(trial);
      if (events_.on_trial) HONE_RETURN_IF_ERROR(events_.on_trial(trial));
      Report(Progress::Phase::kSearching);
      return absl::OkStatus();
    };
    space::Budget budget = tuning_.budget;
    budget.time -= std::min(budget.time, Elapsed());
    return optimizers::RunSearch(*problem_, *optimizer, budget, clock_, search);
  }

  // Returns the candidates that may be published, best first: the best parts of
  // all trials together, the winner and the default. If costs are noisy, the
  // cheapest few trials compete for the first place.
  std::vector<Finalists> Groups(const optimizers::SearchResult& result) const {
    std::vector<Finalists> groups;
    const space::Candidate by_default = problem_->DefaultCandidate();
    if (problem_->is_noisy()) {
      Finalists best = CheapestTrials(by_default);
      if (!best.empty()) groups.push_back(std::move(best));
      groups.push_back({by_default});
      return groups;
    }
    if (result.best) {
      std::optional<space::Candidate> composed = best_parts_.Compose();
      if (composed && *composed != result.best->candidate) {
        groups.push_back({*std::move(composed)});
      }
      groups.push_back({result.best->candidate});
    }
    if (groups.empty() || groups.back()[0] != by_default) {
      groups.push_back({by_default});
    }
    return groups;
  }

  // Counts a trial. If costs are noisy, keeps it if it is among the cheapest;
  // of those that cost the same (transpositions), the first.
  void Note(const space::Trial& trial) {
    AddTrial(trial, progress_);
    best_parts_.Note(trial);
    const double cost = space::EffectiveCost(trial.measurement);
    if (!problem_->is_noisy() || std::isinf(cost)) return;
    const auto costs_less = [](const space::Trial& kept, double than) {
      return kept.measurement.cost < than;
    };
    const auto at =
        std::lower_bound(cheapest_.begin(), cheapest_.end(), cost, costs_less);
    if (at != cheapest_.end() && at->measurement.cost == cost) return;
    cheapest_.insert(at, trial);
    if (cheapest_.size() > kFinalists) cheapest_.pop_back();
  }

  // Returns the cheapest trials that are better than the default.
  Finalists CheapestTrials(const space::Candidate& by_default) const {
    Finalists finalists;
    for (const space::Trial& trial : cheapest_) {
      if (trial.candidate == by_default) break;
      finalists.push_back(trial.candidate);
    }
    return finalists;
  }

  absl::StatusOr<Found> Conclude(const optimizers::SearchResult& result) {
    VerifyOptions verify;
    verify.pool = pool_;
    verify.seed = tuning_.seed;
    HONE_ASSIGN_OR_RETURN(const double default_cost, DefaultCost(result));
    const std::vector<Finalists> groups = Groups(result);
    absl::StatusOr<Winner> chosen =
        ChooseWinner(*task_, *subject_, *problem_, groups, verify);
    // Costs may have changed since the log was written.
    if (chosen.ok() && !problem_->is_noisy() && chosen->cost > default_cost) {
      chosen = ChooseWinner(*task_, *subject_, *problem_,
                            absl::MakeConstSpan(groups).last(1), verify);
    }
    // Beyond the limits of evaluation it could not be either.
    if (absl::IsFailedPrecondition(chosen.status()) ||
        absl::IsResourceExhausted(chosen.status()) ||
        absl::IsDeadlineExceeded(chosen.status())) {
      return absl::FailedPreconditionError(
          absl::StrCat("not even the default could be verified: ",
                       chosen.status().message()));
    }
    HONE_ASSIGN_OR_RETURN(Winner winner, std::move(chosen));
    Found found;
    found.unit = std::string(problem_->unit());
    found.default_cost = default_cost;
    found.best_cost = winner.cost;
    found.decision = std::move(winner.applied.decision);
    if (winner.applied.module.has_value()) {
      found.tuned_module = hlo::PrintModule(*winner.applied.module);
    }
    found.trials = result.trials;
    found.seconds = Seconds();
    found.verification = std::move(winner.verification);
    return found;
  }

  absl::StatusOr<double> DefaultCost(
      const optimizers::SearchResult& result) const {
    const bool is_current = job_.trials.empty() || problem_->is_noisy();
    if (result.baseline && is_current) return result.baseline->measurement.cost;
    HONE_ASSIGN_OR_RETURN(const space::Measurement measurement,
                          problem_->Measure(problem_->DefaultCandidate()));
    return measurement.cost;
  }

  const Clock& clock_;
  ThreadPool* const pool_;
  backends::KernelMeasurer* const kernels_;
  const storage::Tuning& tuning_;
  const SearchJob& job_;
  const SearchEvents& events_;
  const absl::Duration start_;

  const Task* task_ = nullptr;
  TaskOptions options_;
  std::optional<Subject> subject_;
  std::unique_ptr<space::Problem> problem_;  // of subject_
  Progress progress_;
  // Of earlier runs and this one.
  BestParts best_parts_;
  // Of earlier runs and this one, if costs are noisy: the cheapest first, at
  // most kFinalists.
  std::vector<space::Trial> cheapest_;
};

}  // namespace

void AddTrial(const space::Trial& trial, Progress& progress) {
  // Some of a resumed log may be missing (resumed_log.h).
  progress.trials = trial.id + 1;
  if (trial.measurement.outcome != space::Outcome::kOk) return;
  const double cost = trial.measurement.cost;
  if (trial.id == 0) progress.default_cost = cost;
  progress.best_cost = std::min(progress.best_cost.value_or(cost), cost);
}

absl::StatusOr<Found> LocalSearcher::Search(const SearchJob& job,
                                            const SearchEvents& events) {
  return Run(clock_, pool_, kernels_, job, events).Finish();
}

absl::Status ProcessFailure(absl::Status status) {
  status.SetPayload(kProcessFailure, absl::Cord());
  return status;
}

bool IsProcessFailure(const absl::Status& status) {
  return status.GetPayload(kProcessFailure).has_value();
}

}  // namespace hone::tuning
