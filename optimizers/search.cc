#include "optimizers/search.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"

namespace hone::optimizers {
namespace {

bool IsBetter(const space::Trial& a, const space::Trial& b) {
  const auto rank = [](const space::Trial& trial) {
    return std::make_pair(space::EffectiveCost(trial.measurement),
                          trial.candidate.choices.size());
  };
  return rank(a) < rank(b);
}

void Take(const space::Trial& trial, Optimizer& optimizer,
          SearchResult& result) {
  optimizer.Observe(trial);
  if (result.trials == 0) result.baseline = trial;
  ++result.trials;
  if (trial.measurement.outcome != space::Outcome::kOk) return;
  if (!result.best || IsBetter(trial, *result.best)) result.best = trial;
}

absl::Status Resume(absl::Span<const space::Trial> log, Optimizer& optimizer,
                    SearchResult& result) {
  for (const space::Trial& trial : log) {
    if (trial.id != result.trials) {
      return absl::InvalidArgumentError(absl::StrCat(
          "trial ", trial.id, " in the log, expected trial ", result.trials));
    }
    const std::vector<space::Candidate> next = optimizer.Suggest(1);
    if (next.empty() || next[0] != trial.candidate) {
      return absl::InvalidArgumentError(absl::StrCat(
          "trial ", trial.id, " in the log is not what optimizer '",
          optimizer.name(), "' proposes, expected the log of the same search"));
    }
    Take(trial, optimizer, result);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SearchResult> RunSearch(const space::Problem& problem,
                                       Optimizer& optimizer,
                                       const space::Budget& budget,
                                       const Clock& clock,
                                       const SearchOptions& options) {
  const absl::Duration start = clock.Monotonic();
  SearchResult result;
  HONE_RETURN_IF_ERROR(Resume(options.resume, optimizer, result));

  const space::SequentialProblem* const sequence = problem.sequential();
  const int64_t first_step = sequence == nullptr ? 0 : sequence->steps_taken();
  // The limit that forbids another measurement.
  const auto limit = [&]() -> std::optional<SearchEnd> {
    if (options.stop && options.stop()) return SearchEnd::kStopped;
    if (result.trials >= budget.trials) return SearchEnd::kTrials;
    if (sequence != nullptr &&
        sequence->steps_taken() - first_step >= budget.steps) {
      return SearchEnd::kSteps;
    }
    if (clock.Monotonic() - start >= budget.time) return SearchEnd::kTime;
    return std::nullopt;
  };
  std::optional<SearchEnd> end = limit();
  while (!end) {
    const int64_t count = std::min<int64_t>(std::max(options.batch_size, 1),
                                            budget.trials - result.trials);
    const std::vector<space::Candidate> batch =
        optimizer.Suggest(static_cast<int32_t>(count));
    if (batch.empty()) end = SearchEnd::kExhausted;
    for (size_t i = 0; i < batch.size() && !end; ++i) {
      HONE_ASSIGN_OR_RETURN(space::Measurement measurement,
                            problem.Measure(batch[i]));
      const space::Trial trial{result.trials, batch[i], std::move(measurement)};
      Take(trial, optimizer, result);
      if (options.on_trial) HONE_RETURN_IF_ERROR(options.on_trial(trial));
      end = limit();
    }
  }
  result.end = *end;
  result.elapsed = clock.Monotonic() - start;
  return result;
}

}  // namespace hone::optimizers
