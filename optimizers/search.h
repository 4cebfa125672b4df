#ifndef HONE_OPTIMIZERS_SEARCH_H_
#define HONE_OPTIMIZERS_SEARCH_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

#include "base/clock.h"
#include "optimizers/optimizer.h"
#include "space/problem.h"
#include "space/trial.h"

namespace hone::optimizers {

// The reason for the end of a search.
enum class SearchEnd {
  kTrials,       // budget.trials are spent
  kEvaluations,  // budget.evaluations are spent
  kTime,         // budget.time is spent
  kExhausted,    // the optimizer has nothing left to propose
  kStopped,      // options.stop returned true
};

struct SearchOptions {
  // The log of the search to resume: its trials in order, ids from 0. They
  // count against budget.trials, but their time does not count against
  // budget.time. Some may be missing, neither the first nor the last. Where the
  // optimizer does not propose them again, with other weights or on another
  // machine, it goes on from what they found (Optimizer::Adopt). Candidates
  // that are outside the space by now only count.
  absl::Span<const space::Trial> resume;
  // Called after each new trial, before the next measurement; an error ends the
  // search.
  std::function<absl::Status(const space::Trial&)> on_trial;
  // Called before each measurement; true ends the search.
  std::function<bool()> stop;
  // The number of candidates per Suggest.
  int32_t batch_size = 16;
};

struct SearchResult {
  // The cheapest ok trial; of equal ones the one with the fewest choices, then
  // the first. Absent if no trial was ok.
  std::optional<space::Trial> best;
  // The first trial, the problem's default; absent without trials.
  std::optional<space::Trial> baseline;
  // The total number of trials, including resumed ones.
  int64_t trials = 0;
  // The problem's evaluations in this call.
  int64_t evaluations = 0;
  // The time of this call.
  absl::Duration elapsed;
  SearchEnd end = SearchEnd::kExhausted;
};

// Runs `optimizer`, which must be new, on `problem` within `budget`: no
// measurement begins once a limit is reached. Measures as many candidates at a
// time as the problem wants (measurement_batch). The best sequence of a
// sequential problem without noise is cleaned up (cleanup.h) when nine tenths
// of the budget are spent or the optimizer is at its end; what is then left of
// the budget is the optimizer's again. Errors: InvalidArgument if the ids of
// options.resume do not ascend from 0; those of options.on_trial and of
// Problem::MeasureBatch.
absl::StatusOr<SearchResult> RunSearch(const space::Problem& problem,
                                       Optimizer& optimizer,
                                       const space::Budget& budget,
                                       const Clock& clock,
                                       const SearchOptions& options = {});

}  // namespace hone::optimizers

#endif  // HONE_OPTIMIZERS_SEARCH_H_
