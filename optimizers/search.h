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

// Why a search ended.
enum class SearchEnd {
  kTrials,     // budget.trials are spent
  kSteps,      // budget.steps are spent
  kTime,       // budget.time is spent
  kExhausted,  // the optimizer has nothing left to propose
  kStopped,    // options.stop said so
};

struct SearchOptions {
  // The log of the search to go on with: its trials in order, ids from 0. They
  // count against budget.trials; the time they took does not count against
  // budget.time.
  absl::Span<const space::Trial> resume;
  // Called after each new trial, before the next is measured; its error ends
  // the search.
  std::function<absl::Status(const space::Trial&)> on_trial;
  // Asked before each measurement.
  std::function<bool()> stop;
  // Candidates asked for at once.
  int32_t batch_size = 16;
};

struct SearchResult {
  // The cheapest ok trial; of equal ones that with the fewest choices, then the
  // first. Missing when no trial was ok.
  std::optional<space::Trial> best;
  // The problem's default, the first trial; missing when there was none.
  std::optional<space::Trial> baseline;
  // Trials in total, resumed ones included.
  int64_t trials = 0;
  // What this call took.
  absl::Duration elapsed;
  SearchEnd end = SearchEnd::kExhausted;
};

// Runs `optimizer`, which must be new, on `problem` within `budget`: no
// measurement begins once either limit is reached. Measures one candidate after
// the other.
// Errors: InvalidArgument when options.resume is not the log of a search with
// this optimizer, problem and seed; those of options.on_trial and of
// Problem::Measure.
absl::StatusOr<SearchResult> RunSearch(const space::Problem& problem,
                                       Optimizer& optimizer,
                                       const space::Budget& budget,
                                       const Clock& clock,
                                       const SearchOptions& options = {});

}  // namespace hone::optimizers

#endif  // HONE_OPTIMIZERS_SEARCH_H_
