#include "optimizers/search.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "optimizers/cleanup.h"
#include "space/assignment_problem.h"

namespace hone::optimizers {
namespace {

bool IsBetter(const space::Trial& a, const space::Trial& b) {
  const auto rank = [](const space::Trial& trial) {
    return std::make_pair(space::RankOf(trial.measurement),
                          trial.candidate.choices.size());
  };
  return rank(a) < rank(b);
}

// The part of the budget that is kept for cleaning up, one in so many.
constexpr int64_t kCleanupShare = 10;

class Search {
 public:
  Search(const space::Problem& problem, Optimizer& optimizer,
         const space::Budget& budget, const Clock& clock,
         const SearchOptions& options)
      : problem_(problem),
        optimizer_(optimizer),
        budget_(budget),
        clock_(clock),
        options_(options),
        sequence_(problem.sequential()),
        cleans_up_(sequence_ != nullptr && !problem.is_noisy()),
        start_(clock.Monotonic()) {}

  absl::StatusOr<SearchResult> Run() {
    HONE_RETURN_IF_ERROR(Resume());
    first_evaluation_ = problem_.evaluations();
    if (phase_ == Phase::kSearch) {
      HONE_RETURN_IF_ERROR(Explore(/*whole=*/!cleans_up_));
      if (!stopped()) BeginCleanup();
    }
    if (!stopped()) HONE_RETURN_IF_ERROR(CleanUp());
    if (!stopped()) HONE_RETURN_IF_ERROR(Explore(/*whole=*/true));
    result_.elapsed = clock_.Monotonic() - start_;
    result_.evaluations = problem_.evaluations() - first_evaluation_;
    return std::move(result_);
  }

 private:
  enum class Phase { kSearch, kCleanup, kRest };

  bool stopped() const { return result_.end == SearchEnd::kStopped; }

  // The limit that forbids another measurement, one of the whole budget or of
  // the part before the clean-up.
  std::optional<SearchEnd> Limit(bool whole) const {
    const auto part = [whole](auto limit) {
      return whole ? limit : limit - limit / kCleanupShare;
    };
    if (options_.stop && options_.stop()) return SearchEnd::kStopped;
    if (result_.trials >= part(budget_.trials)) return SearchEnd::kTrials;
    if (problem_.evaluations() - first_evaluation_ >=
        part(budget_.evaluations)) {
      return SearchEnd::kEvaluations;
    }
    if (clock_.Monotonic() - start_ >= part(budget_.time)) {
      return SearchEnd::kTime;
    }
    return std::nullopt;
  }

  // The log of a search limited by time does not say when its phases began: a
  // trial that the phase did not propose began the next.
  absl::Status Resume() {
    bool replays = optimizer_.replays();
    for (const space::Trial& trial : options_.resume) {
      const bool is_first = result_.trials == 0;
      if (trial.id < result_.trials || (is_first && trial.id != 0)) {
        return absl::InvalidArgumentError(
            absl::StrCat("trial ", trial.id, " in the log, expected trial ",
                         result_.trials));
      }
      const bool follows = trial.id == result_.trials;
      result_.trials = trial.id;
      replays = replays && follows && Replay(trial);
      if (replays) continue;
      if (IsInSpace(trial.candidate)) {
        Record(trial);
      } else {
        ++result_.trials;
      }
    }
    if (replays || options_.resume.empty()) return absl::OkStatus();
    phase_ = Phase::kSearch;
    cleanup_.reset();
    std::vector<space::Trial> valid;
    for (const space::Trial& trial : options_.resume) {
      if (IsInSpace(trial.candidate)) valid.push_back(trial);
    }
    // Without any, nothing was observed either.
    if (!valid.empty()) optimizer_.Adopt(valid);
    return absl::OkStatus();
  }

  bool IsInSpace(const space::Candidate& candidate) const {
    const std::vector<int32_t>& choices = candidate.choices;
    if (sequence_ != nullptr) {
      const auto is_action = [this](int32_t choice) {
        return choice >= 0 && choice < sequence_->action_count();
      };
      return choices.size() <= static_cast<size_t>(sequence_->max_steps()) &&
             std::all_of(choices.begin(), choices.end(), is_action);
    }
    size_t variable = 0;
    for (const space::VariableGroup& group : problem_.assignment()->groups()) {
      for (int32_t i = 0; i < group.count; ++i, ++variable) {
        if (variable >= choices.size() || choices[variable] < 0 ||
            choices[variable] >= group.domain) {
          return false;
        }
      }
    }
    return variable == choices.size();
  }

  // Takes a trial of the log; returns false if no phase of this search proposes
  // it.
  bool Replay(const space::Trial& trial) {
    if (phase_ == Phase::kSearch && !Proposes(trial.candidate)) {
      BeginCleanup();
    }
    if (phase_ == Phase::kCleanup &&
        (!cleanup_ || cleanup_->next() != trial.candidate)) {
      phase_ = Phase::kRest;
    }
    if (phase_ == Phase::kRest && !Proposes(trial.candidate)) return false;
    Take(trial);
    return true;
  }

  bool Proposes(const space::Candidate& candidate) const {
    const std::vector<space::Candidate> next = optimizer_.Suggest(1);
    return !next.empty() && next[0] == candidate;
  }

  // Follows the optimizer to a limit (Limit) or its end.
  absl::Status Explore(bool whole) {
    std::optional<SearchEnd> end = Limit(whole);
    while (!end) {
      const int64_t count = std::min<int64_t>(std::max(options_.batch_size, 1),
                                              budget_.trials - result_.trials);
      const std::vector<space::Candidate> batch =
          optimizer_.Suggest(static_cast<int32_t>(count));
      // Planning that a limit ended says nothing about the space.
      if (batch.empty()) {
        HONE_RETURN_IF_ERROR(optimizer_.status());
        end = Limit(whole).value_or(SearchEnd::kExhausted);
      }
      const auto together =
          static_cast<size_t>(std::max(problem_.measurement_batch(), 1));
      for (size_t i = 0; i < batch.size() && !end; i += together) {
        HONE_RETURN_IF_ERROR(
            Try(absl::MakeConstSpan(batch).subspan(i, together)));
        end = Limit(whole);
      }
    }
    result_.end = *end;
    return absl::OkStatus();
  }

  void BeginCleanup() {
    phase_ = Phase::kCleanup;
    if (cleans_up_ && result_.best) cleanup_.emplace(*sequence_, *result_.best);
  }

  absl::Status CleanUp() {
    while (phase_ == Phase::kCleanup && cleanup_ && cleanup_->next()) {
      if (const std::optional<SearchEnd> end = Limit(/*whole=*/true)) {
        result_.end = *end;
        return absl::OkStatus();
      }
      HONE_RETURN_IF_ERROR(Try({&*cleanup_->next(), 1}));
    }
    phase_ = Phase::kRest;
    return absl::OkStatus();
  }

  absl::Status Try(absl::Span<const space::Candidate> candidates) {
    HONE_ASSIGN_OR_RETURN(std::vector<space::Measurement> measurements,
                          problem_.MeasureBatch(candidates));
    for (size_t i = 0; i < candidates.size(); ++i) {
      const space::Trial trial{result_.trials, candidates[i],
                               std::move(measurements[i])};
      // First: to observe may plan, and planning may evaluate.
      if (options_.on_trial) HONE_RETURN_IF_ERROR(options_.on_trial(trial));
      Take(trial);
    }
    return absl::OkStatus();
  }

  void Take(const space::Trial& trial) {
    if (phase_ == Phase::kCleanup) {
      cleanup_->Observe(trial.measurement);
    } else {
      optimizer_.Observe(trial);
    }
    Record(trial);
  }

  void Record(const space::Trial& trial) {
    if (result_.trials == 0) result_.baseline = trial;
    ++result_.trials;
    if (trial.measurement.outcome != space::Outcome::kOk) return;
    if (!result_.best || IsBetter(trial, *result_.best)) result_.best = trial;
  }

  const space::Problem& problem_;
  Optimizer& optimizer_;
  const space::Budget& budget_;
  const Clock& clock_;
  const SearchOptions& options_;
  const space::SequentialProblem* const sequence_;
  const bool cleans_up_;
  const absl::Duration start_;
  int64_t first_evaluation_ = 0;
  Phase phase_ = Phase::kSearch;
  std::optional<Cleanup> cleanup_;
  SearchResult result_;
};

}  // namespace

absl::StatusOr<SearchResult> RunSearch(const space::Problem& problem,
                                       Optimizer& optimizer,
                                       const space::Budget& budget,
                                       const Clock& clock,
                                       const SearchOptions& options) {
  return Search(problem, optimizer, budget, clock, options).Run();
}

}  // namespace hone::optimizers
